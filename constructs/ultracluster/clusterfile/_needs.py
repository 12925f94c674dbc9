"""What the nodes of a file need of network and storage."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ultracluster.catalogue.ec2 import InstanceType, addresses, interfaces
from ultracluster.catalogue.schedulers import eks
from ultracluster.catalogue.storage import repositories
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._quantities import Size
from ultracluster.clusterfile.sections._lustre import Lustre
from ultracluster.clusterfile.sections._storage import Home
from ultracluster.planning.home import CAPACITY_GIB as OPENZFS_CAPACITY_GIB
from ultracluster.planning.home import OpenZfsSize, size_openzfs
from ultracluster.planning.lustre import (
    Checkpoint,
    LustreGoal,
    LustreOffer,
    LustreOverrides,
    LustrePlan,
    LustreSpec,
    checkpoint_bytes,
    lustre_offer,
    plan_lustre,
)

# Room for the interfaces of the Slurm controller, or for the 2 to 4 of EKS, and for what others put into the subnet.
_ROOM_FOR_SERVICES = 8
# A file system grows by servers, and its subnet can't change: room for twice as many.
_ROOM_FOR_GROWTH = 2
# Of a system node: controllers, DNS and drivers are some thirty pods, and half of them may have to move together.
SYSTEM_PODS = 58


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingAddresses:
    """IPv4 addresses of the training subnet, by who takes them."""

    nodes: int
    service: int
    lustre: int
    services: int = _ROOM_FOR_SERVICES

    @property
    def beside_nodes(self) -> int:
        """Those that are not the node groups'."""
        return self.service + self.lustre + self.services

    @property
    def total(self) -> int:
        """All of them."""
        return self.nodes + self.beside_nodes


def training_addresses(
    groups: Sequence[NodeGroup],
    *,
    service: int,
    service_type: InstanceType,
    lustre: LustreSpec | None,
    kubernetes: bool = False,
) -> TrainingAddresses:
    """The addresses that a cluster takes from its training subnet, with room to grow.

    Args:
        groups: The node groups in its zone.
        service: Number of nodes beside the groups: login nodes, or system nodes.
        service_type: Their type.
        lustre: The file system. None: there is none.
        kubernetes: Whether nodes run pods, which take addresses too.
    """
    pods = eks.pod_addresses(SYSTEM_PODS) if kubernetes else 0
    return TrainingAddresses(
        nodes=sum(group.addresses for group in groups),
        service=service * (addresses(interfaces(service_type)) + pods),
        lustre=0 if lustre is None else _ROOM_FOR_GROWTH * lustre.addresses,
    )


def second_zone(zone: str) -> str:
    """The zone beside another one where EKS puts interfaces, when nobody names it."""
    prefix = zone.split("-")[0]
    return next(
        other
        for other in (f"{prefix}-az{number}" for number in (2, 1, 3, 4))
        if other != zone and other not in eks.ZONES_WITHOUT_CONTROL_PLANE
    )


def accepted_offer(lustre: Lustre, zone: str, accept: Collection[str]) -> LustreOffer:
    """Return what FSx sells in a zone, and what the file says that it sells.

    Args:
        lustre: The section.
        zone: The zone.
        accept: Rules that the file accepts.
    """
    offer = lustre_offer(zone)
    if "lustre-efa-zone" in accept:
        offer = replace(offer, efa=True)
    if "lustre-tier" in accept and lustre.tier and lustre.tier.mb_per_s_per_tib not in offer.tiers:
        offer = replace(offer, tiers=(*offer.tiers, lustre.tier.mb_per_s_per_tib))
    if "lustre-version" in accept and lustre.lustre_version:
        offer = replace(offer, versions=(*offer.versions, lustre.lustre_version))
    return offer


def lustre_plan(lustre: Lustre, *, zone: str, accept: Collection[str] = ()) -> LustrePlan | None:
    """The file system that a section asks for. None: it names one that is there already.

    By the place alone, never by today's nodes: a file system outlives them, and its shape can't follow.

    Raises:
        ValueError: When FSx does not sell it in the zone.
    """
    if lustre.existing is not None:
        return None
    return plan_lustre(
        lustre_goal(lustre), offer=accepted_offer(lustre, zone, accept), overrides=lustre_overrides(lustre)
    )


def lustre_goal(lustre: Lustre) -> LustreGoal:
    """What a section says that the file system is for."""
    return LustreGoal(
        throughput_mb_per_s=lustre.throughput.mb_per_s if lustre.throughput else None,
        checkpoint=checkpoint(lustre),
        capacity_gib=lustre.capacity.gib if lustre.capacity else None,
        working_set_gib=lustre.working_set.gib if lustre.working_set else None,
        temporary=lustre.temporary,
        associations=min(len(lustre.data_repository_associations), repositories.MOST_ASSOCIATIONS),
        backups=lustre.backups is not None,
    )


def lustre_overrides(lustre: Lustre) -> LustreOverrides:
    """What a section decides of the file system itself."""
    exact = lustre.tier is not None and lustre.capacity is not None
    cache = lustre.read_cache
    return LustreOverrides(
        deployment_type=lustre.deployment_type,
        storage_type=lustre.storage_type,
        capacity_gib=lustre.capacity.gib if exact and lustre.capacity else None,
        mb_per_s_per_tib=lustre.tier.mb_per_s_per_tib if lustre.tier else None,
        throughput_capacity_mb_per_s=lustre.throughput_capacity.mb_per_s if lustre.throughput_capacity else None,
        efa=lustre.efa,
        metadata_mode=None if lustre.metadata_iops is None else "USER_PROVISIONED",
        metadata_iops=lustre.metadata_iops,
        read_cache_mode="USER_PROVISIONED" if isinstance(cache, Size) else cache,
        read_cache_gib=cache.gib if isinstance(cache, Size) else None,
        compression=lustre.compression,
        lustre_version=lustre.lustre_version,
    )


def home_size(home: Home, *, region: str | None, clients: int) -> OpenZfsSize:
    """The home that a section asks for.

    Args:
        home: The section.
        region: The region. None: not known, not checked.
        clients: Nodes that mount it, login nodes included.

    Raises:
        ValueError: When FSx does not sell it in the region.
    """
    return size_openzfs(
        region=region,
        clients=clients,
        deployment_type=home.deployment,
        capacity_gib=home.capacity.gib if home.capacity else OPENZFS_CAPACITY_GIB,
        throughput_mb_per_s=home.throughput.mb_per_s if home.throughput else None,
    )


def checkpoint(lustre: Lustre) -> Checkpoint | None:
    """The checkpoint that a section speaks of. None: it speaks of none."""
    goal = lustre.checkpoint
    if goal is None:
        return None
    size = int(goal.size.amount) if goal.size else checkpoint_bytes(float(goal.model.amount)) if goal.model else 0
    return Checkpoint(size_bytes=size, stall_seconds=goal.stall.seconds, kept=goal.kept)
