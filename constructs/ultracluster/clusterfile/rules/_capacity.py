"""Rules of capacity: images, reservations, quotas."""

from collections.abc import Iterable, Iterator, Sequence

from ultracluster.catalogue.ec2 import (
    CAPACITY_BLOCKS,
    GP3_QUOTA,
    GP3_TIB,
    INSTANCES_IN_CAPACITY_BLOCKS,
    OFFERED,
    READ_ON,
    WITHOUT_M7I,
    is_local_zone,
    offered_in,
    region_of_zone,
)
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._quota_usage import root_volumes_tib
from ultracluster.clusterfile.rules._rule import Rule, listed, shared, warning
from ultracluster.clusterfile.sections._capacity import BLOCKS_END
from ultracluster.clusterfile.sections._declared import DECLARED_SOURCE
from ultracluster.planning.capacity import (
    Block,
    CapacityBlock,
    Image,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    Spot,
    TargetedReservation,
    UltraServerBlock,
    vcpu_needs,
)

_DECLARED_TYPE = shared("declared-type")
_UNPINNED_IMAGE = shared("unpinned-image")
_IMEX_PROLOG = warning(
    "imex-prolog", "UltraServers with `slurm.health: false`, and no other prolog that configures IMEX."
)
_SPOT_ROLE = warning(
    "spot-role", "Spot needs a service-linked role, which an account has after its first Spot request."
)
_NOT_OFFERED = warning("not-offered", "A type is not known to be offered in its zone or Region.")
_BLOCK_NOT_SOLD = warning(
    "capacity-block-not-sold",
    "A GPU type is not known to be available as a Capacity Block in its Region or Local Zone.",
)
_RESERVATION_SIZE = warning("reservation-size", "A reservation is assumed to be an ODCR with enough instances.")
_RESERVATION_UNUSED = warning("reservation-unused", "A reservation holds more instances than the file uses.")
_BLOCK_END = warning("block-end", "`ends` of a Capacity Block is not 11:30 UTC.")
_BLOCKS_SHARE_END = warning(
    "blocks-share-end", "The Capacity Blocks of a list have one `ends`: nodes of all are drained at the same time."
)
_NO_BLOCK = warning("notifications-unused", "Notices are about Capacity Blocks, and the file has none.")
_CONTROLLER_FULL = warning(
    "controller-full", "The controller has no room for another instance; a larger one is a new cluster."
)
NODE_GROUP_QUOTA = warning(
    "node-group-quota", "More node groups, or queues, than the default quota of AWS PCS for a cluster."
)
_VCPU_QUOTA = warning(
    "vcpu-quota", "Nodes with GPUs, on demand or Spot, need more vCPUs than the default quota of a new account."
)
_GP3_QUOTA = warning(
    "gp3-quota", "Root volumes need more than the default quota of gp3 storage; launches beyond it fail."
)
_INSTANCES_IN_CAPACITY_BLOCKS = warning(
    "instances-in-capacity-blocks", "More instances in Capacity Blocks than an organization can have on one day."
)


def warn_capacity(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    groups = cluster.node_groups
    types = {group.instance_type.name: group.instance_type for group in groups}
    # What `from` brings is EC2's own description.
    declared = [name for name, type in types.items() if type.declared and type.source == DECLARED_SOURCE]
    if declared:
        yield (
            _DECLARED_TYPE,
            f"{listed(declared)}: you declared it, so nothing of it was checked against EC2; compare it with: aws ec2 "
            f"describe-instance-types --instance-types {declared[0]}",
        )
    installs, login = cluster.traits.installs_software, cluster.login_image
    # EKS chooses the image of a managed node group when it creates it, and keeps it.
    self_managed = [group for group in groups if installs or isinstance(group.capacity, InterruptibleReservation)]
    unpinned = _sections(
        group for group in groups if (group.image.moves if group.image else not group.built and group in self_managed)
    )
    unpinned += ["login"] if installs and (login == "aws" or (isinstance(login, Image) and login.moves)) else []
    if unpinned:
        yield (
            _UNPINNED_IMAGE,
            f"{listed(unpinned)}: each deployment uses the newest image, and replaces nodes if a newer one was "
            f"released; pin one for production: "
            f"{cluster.traits.pin}",
        )
    yield from _offered(cluster, groups)
    yield from _blocks_sold(groups)
    yield from _reservations(groups)
    spot = _sections(group for group in groups if isinstance(group.capacity, Spot))
    if spot:
        yield (
            _SPOT_ROLE,
            f"{listed(spot)}: Spot needs a service-linked role, which an account has once it has used Spot; if yours "
            "hasn't: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
        )
    blocks = [group for group in groups if isinstance(group.capacity, Block) and cluster.traits.own_instances]
    if not blocks and cluster.notifications.model_fields_set:
        yield (
            _NO_BLOCK,
            "no node group has a Capacity Block, so no notice is sent, and there is no topic: an address of "
            "notifications.email must confirm its subscription again once there is a block",
        )
    yield from _quotas(cluster)


def _offered(cluster: ClusterFile, groups: Sequence[NodeGroup]) -> Iterator[tuple[Rule, str]]:
    # The copy of the zones has none of GovCloud; the table of Capacity Blocks has its Regions.
    unknown = dict.fromkeys(
        (group.instance_type.name, group.zone)
        for group in groups
        if group.zone not in OFFERED.get(group.instance_type.name, (group.zone,))
        and not (_place(group.zone).startswith("us-gov-") and _block_sold(group.instance_type.name, group.zone))
    )
    words = []
    for name, zone in unknown:
        near = offered_in(name, zone.split("-")[0])
        words.append(f"{name} in {zone}" + (f" (but in {listed(near)})" if near else ""))
    if cluster.region in WITHOUT_M7I:
        named = [group.instance_type.name for group in groups]
        named += [cluster.service_type.name] if cluster.service_count else []
        older = [name for name in dict.fromkeys(named) if name.startswith("m7i.")]
        words += [f"{name} in {cluster.region} (but {name.replace('m7i.', 'm6i.')})" for name in older]
    if words:
        yield (
            _NOT_OFFERED,
            f"not known to be offered on {READ_ON}: {'; '.join(words)}; list them: aws ec2 "
            "describe-instance-type-offerings --location-type availability-zone-id",
        )


def _blocks_sold(groups: Iterable[NodeGroup]) -> Iterator[tuple[Rule, str]]:
    blocks = [group for group in groups if isinstance(group.capacity, CapacityBlock | UltraServerBlock)]
    unsold = dict.fromkeys(
        (group.instance_type.name, group.zone)
        for group in blocks
        if group.instance_type.name in CAPACITY_BLOCKS and not _block_sold(group.instance_type.name, group.zone)
    )
    if unsold:
        words = [f"{name} in {_place(zone)} (but in {listed(CAPACITY_BLOCKS[name])})" for name, zone in unsold]
        yield (
            _BLOCK_NOT_SOLD,
            f"not known to be available as a Capacity Block: {'; '.join(words)}; AWS lists its offerings: aws ec2 "
            "describe-capacity-block-offerings",
        )


def _block_sold(name: str, zone: str) -> bool:
    return not {zone, _place(zone)}.isdisjoint(CAPACITY_BLOCKS.get(name, ()))


def _place(zone: str) -> str:
    """Return the id of a Local Zone, or the Region of another zone, as the table of Capacity Blocks names them."""
    return zone if is_local_zone(zone) else region_of_zone(zone) or zone


def _reservations(groups: Iterable[NodeGroup]) -> Iterator[tuple[Rule, str]]:
    groups = list(groups)
    unknown = _sections(
        group
        for group in groups
        if isinstance(group.capacity, TargetedReservation) and group.capacity.instances is None
    )
    if unknown:
        yield (
            _RESERVATION_SIZE,
            f"{listed(unknown)}: the reservation is assumed to be an ODCR with enough instances; specify what it is: "
            "{reservation: cr-..., kind: odcr | capacity-block | ultraserver | interruptible, instances: N}",
        )
    used: dict[str, tuple[int, int, str]] = {}
    for group in groups:
        held, id = group.capacity.max_instances, getattr(group.capacity, "reservation_id", None)
        if id and held and getattr(group.capacity, "instances", None):
            before = used.get(id, (0, held, group.section))[0]
            used[id] = (before + group.count, held, group.section)
    idle = [f"{held - count} of {id} ({name})" for id, (count, held, name) in used.items() if count < held]
    if idle:
        yield (
            _RESERVATION_UNUSED,
            f"reserved instances that no node group uses: {'; '.join(idle)}; raise count, or keep them as spare nodes: "
            "spare",
        )
    other_times = _sections(
        group
        for group in groups
        if isinstance(group.capacity, CapacityBlock | UltraServerBlock)
        and group.capacity.ends is not None
        and group.capacity.ends.timetz() != BLOCKS_END
    )
    if other_times:
        yield (
            _BLOCK_END,
            f"{listed(other_times)}: Capacity Blocks end at {BLOCKS_END:%H:%M} UTC, and the file has another time; see "
            "EndDate in: aws ec2 describe-capacity-reservations",
        )
    for section in _sections(groups):
        blocks = [group.capacity for group in groups if group.section == section and isinstance(group.capacity, Block)]
        ids = dict.fromkeys(block.reservation_id for block in blocks if block.ends is not None)
        if len(ids) > 1:
            yield (
                _BLOCKS_SHARE_END,
                f"{section}: {listed(ids)} have one end, {blocks[0].ends:%Y-%m-%d %H:%M} UTC, and the nodes of all are "
                "drained before it. If one ends earlier, EC2 terminates its jobs without a drain: a block that ends "
                "at another time needs a section of its own under nodes",
            )


def warn_slurm_capacity(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about UltraServers without IMEX, and about the limits of the controller."""
    ultra = _sections(group for group in cluster.node_groups if group.ultraserver)
    if ultra and not cluster.slurm.health and "Prolog" not in cluster.slurm.settings:
        yield (
            _IMEX_PROLOG,
            f"{listed(ultra)}: GPUs of several nodes share memory over NVLink only when a prolog sets NVIDIA IMEX up "
            "for each job, and slurm.health: false removes it; leave it on, or put AWS's on a path that every node "
            'sees, and name it: slurm: {settings: {Prolog: /..., PrologFlags: "Alloc,NoHold"}}',
        )
    if cluster.instances == pcs.SIZES.get(cluster.controller_size, 0) < max(pcs.SIZES.values()):
        larger = pcs.size_for(cluster.instances + 1)
        yield (
            _CONTROLLER_FULL,
            f"the {cluster.controller_size} controller manages {cluster.instances} instances, and all are used: one "
            "more requires a new cluster, because the size cannot change; set before the first deployment: slurm: "
            f"{{size: {larger}}}",
        )
    count = len(cluster.node_groups) + 1
    if count > pcs.NODE_GROUPS_PER_CLUSTER:
        yield (
            NODE_GROUP_QUOTA,
            f"the cluster has {count} node groups, the login nodes' included, and the default quota is "
            f"{pcs.NODE_GROUPS_PER_CLUSTER}; request an increase by a support case before you deploy",
        )


def _quotas(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    # A reservation has met its quota already, and EC2 raises that of standard families as an account uses them.
    fresh = [
        (group.instance_type, group.capacity, group.count)
        for group in cluster.node_groups
        if isinstance(group.capacity, OnDemand | OpenReservation | Spot)
        if group.instance_type.gpus and cluster.traits.own_instances
    ]
    needs = {quota: vcpus for quota, vcpus in vcpu_needs(fresh).items() if vcpus > quota.default}
    if needs:
        words = [f"{vcpus:,} of {quota.name} ({quota.code})" for quota, vcpus in needs.items()]
        yield (
            _VCPU_QUOTA,
            f"the nodes need more vCPUs than the quotas of a new account, which are {next(iter(needs)).default}: "
            f"{'; '.join(words)}; request an increase before you deploy",
        )
    volumes = root_volumes_tib(cluster)
    if volumes > GP3_TIB:
        yield (
            _GP3_QUOTA,
            f"the root volumes are {volumes:,} TiB, and the default quota of an account is {GP3_TIB} TiB of gp3 "
            f"volumes ({GP3_QUOTA}, service ebs), those of Capacity Blocks included: instances beyond it do not "
            "launch; request an increase before you deploy",
        )
    blocks = sum(
        group.count for group in cluster.node_groups if isinstance(group.capacity, CapacityBlock | UltraServerBlock)
    )
    if blocks > INSTANCES_IN_CAPACITY_BLOCKS:
        yield (
            _INSTANCES_IN_CAPACITY_BLOCKS,
            f"{blocks:,} instances are in Capacity Blocks, and an organization has at most "
            f"{INSTANCES_IN_CAPACITY_BLOCKS} on one day; request an increase from AWS",
        )


def _sections(groups: Iterable[NodeGroup]) -> list[str]:
    return list(dict.fromkeys(group.section for group in groups))
