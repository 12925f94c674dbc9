"""Rules of node groups, and of what their nodes mount."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import permutations

from ultracluster.catalogue.ec2 import DAYS_OF_CAPACITY_BLOCK
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem, field_name
from ultracluster.clusterfile.rules._images import check_images
from ultracluster.clusterfile.rules._rule import Rule, error, shared, warning
from ultracluster.planning.capacity import (
    Block,
    CapacityBlock,
    InterruptibleReservation,
    Service,
    TargetedReservation,
    UltraServerBlock,
    check_sold,
    purchase,
)

_LAYOUT = shared("layout")
_SERVICE = shared("capacity-service")
_PURCHASE = shared("purchase-option")
_HELD = shared("capacity-count")
_LENGTH = error(
    "block-length", "AWS sells Capacity Blocks, with their extensions, of a limited length.", acceptable=True
)
_ROOT = shared("root-volume")
_PLACEMENT = shared("placement-group")
_GPU = warning("gpu-not-known", "Checks and figures that need the facts of a GPU model are off without them.")
_MOUNTS = error("mount-overlap", "A file system that is mounted within another one hides it.")
_SHARED = error("reservation-shared", "Node groups that share a reservation must agree on it and fit in it together.")

# Container images fill AWS's default of about 75 GiB, and its templates for PCS take 300 at least. See
# https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs (read 2026-11-20).
_SMALLEST_ROOT_GIB = 300
# All blocks end at 11:30 UTC and start at any time, so that a block may be some hours longer than it was requested.
_LONGEST_BLOCK = timedelta(days=DAYS_OF_CAPACITY_BLOCK + 1)
# gp3. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
# (read 2026-11-21)
_LARGEST_ROOT_GIB = 65_536


def check_node_groups(draft: Draft) -> Iterator[Problem]:
    """Check each node group by itself, then their reservations and images."""
    for group in draft.node_groups:
        yield from _check_group(group, draft.traits.capacity_service if draft.orchestrator else None)
    yield from _check_shared_reservations(draft.node_groups)
    yield from check_images(draft)


def _check_group(group: NodeGroup, service: Service | None) -> Iterator[Problem]:
    path = ("nodes", group.section)
    try:
        _ = group.interfaces
    except ValueError as error:
        yield _LAYOUT((*path, "layout"), str(error))
    yield from _check_capacity(group, service)
    held = group.capacity.max_instances
    if held is not None and group.count > held and not group.instance_type.ultraservers:
        what = "holds" if getattr(group.capacity, "instances", None) else "can hold"
        message = (
            f"{group.count:,} nodes are more than the {held} that {group.capacity.word} {what}; lower the count, or "
            "make the rest a node group of its own"
        )
        yield _HELD((*path, "count"), message)
    if not _SMALLEST_ROOT_GIB <= group.root_volume.gib <= _LARGEST_ROOT_GIB:
        message = (
            f"must be {_SMALLEST_ROOT_GIB} GiB (container images are large) to {_LARGEST_ROOT_GIB:,} GiB (the largest "
            f"gp3 volume), got {group.root_volume}"
        )
        yield _ROOT((*path, "root-volume"), message)
    try:
        _ = group.placed
    except ValueError as error:
        yield _PLACEMENT((*path, "placement-group"), str(error))


def _check_shared_reservations(groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    shared: dict[str, list[NodeGroup]] = {}
    for group in groups:
        if isinstance(
            group.capacity, TargetedReservation | InterruptibleReservation | CapacityBlock | UltraServerBlock
        ):
            shared.setdefault(group.capacity.reservation_id, []).append(group)
    for id, sharers in shared.items():
        names, last = " and ".join(group.section for group in sharers), sharers[-1]
        path = ("nodes", last.section, "capacity")
        if len({type(group.capacity) for group in sharers}) > 1:
            message = f"{id} can't be of several kinds: {names} share it; write the same kind for each"
            yield _SHARED(path, message)
            continue
        if len({group.capacity for group in sharers}) > 1:
            message = f"{names} share {id} with different values; write the same for each"
            yield _SHARED(path, message)
            continue
        for what, several in (
            ("in one zone", {group.zone: None for group in sharers}),
            ("for one instance type", {group.instance_type.name: None for group in sharers}),
        ):
            if len(several) > 1:
                message = f"{id} is {what}, and {names}, which share it, have {' and '.join(several)}; correct one"
                yield _SHARED(path, message)
        if len(sharers) > 1 and last.instance_type.ultraservers:
            message = f"{id} holds one UltraServer, whole, and {names} each need one; name another for one of them"
            yield _SHARED(path, message)
            continue
        held = sharers[0].capacity.max_instances
        together = sum(group.count for group in sharers)
        if held is not None and together > held and all(group.count <= held for group in sharers):
            message = f"{names} share {id} and have {together:,} nodes together, more than the {held} that it can hold"
            yield _HELD(("nodes", last.section, "count"), message)


def _check_capacity(group: NodeGroup, service: Service | None) -> Iterator[Problem]:
    """Check a purchase option. An orchestrator that is not valid has no service."""
    path: Path = ("nodes", group.section, "capacity")
    try:
        if service is not None:
            purchase(group.capacity, service)
    except ValueError as error:
        yield _SERVICE(path, str(error))
        return
    block = group.capacity
    if isinstance(block, Block) and block.starts and block.ends and block.ends - block.starts > _LONGEST_BLOCK:
        message = (
            f"is {(block.ends - block.starts).days} days after starts, and a Capacity Block has at most "
            f"{DAYS_OF_CAPACITY_BLOCK}, its extensions included; see StartDate and EndDate in: aws ec2 "
            f"describe-capacity-reservations --capacity-reservation-ids {block.reservation_id}"
        )
        yield _LENGTH((*path, "ends"), message)
    yield from (_PURCHASE(path, message) for message in check_sold(group.instance_type, group.capacity, service))


def warn_nodes(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    unknown = {
        group.section: f"{group.instance_type.name} with {group.instance_type.gpu_model or 'GPUs'}"
        for group in cluster.node_groups
        if group.instance_type.gpus and group.instance_type.gpu is None
    }
    if unknown:
        groups = ", ".join(f"{section} ({what})" for section, what in unknown.items())
        yield (
            _GPU,
            f"{groups}: this release has no facts of the GPU, so that no check looks at NVLink, and dashboards show no "
            "share of its peak; metrics of the GPU are collected, of all fields that any GPU has",
        )


def check_mounts(draft: Draft) -> Iterator[Problem]:
    """Check that no mount hides another; both keys have the error."""
    lustre, home = draft.storage.lustre, draft.storage.home
    mounts: dict[Path, str] = {("storage", "scratch", "path"): draft.storage.scratch.path}
    mounts |= {("storage", "lustre", "mount"): lustre.mount} if lustre else {}
    mounts |= {("storage", "home", "mount"): home.mount} if home else {}
    for (key, path), (other_key, other) in permutations(mounts.items(), 2):
        if f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"):
            message = (
                f"is {path}, and {field_name(other_key)} is {other}: one would hide the other; use two directories "
                "that do not contain each other"
            )
            yield _MOUNTS(key, message)
