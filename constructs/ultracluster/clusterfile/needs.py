"""What the nodes of a file need of network and storage."""

from collections.abc import Sequence
from dataclasses import dataclass

from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.sections import Lustre
from ultracluster.hardware import InstanceType, addresses, interfaces
from ultracluster.planning import LustreSize, lustre_offer, size_lustre

# Room for the Slurm controller's interface, and for what others put into the subnet.
_ROOM_FOR_SERVICES = 8
# A file system grows by servers, and its subnet can't change: room for twice as many.
_ROOM_FOR_GROWTH = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingAddresses:
    """IPv4 addresses of the training subnet, by who takes them."""

    nodes: int
    login: int
    lustre: int
    services: int = _ROOM_FOR_SERVICES

    @property
    def beside_nodes(self) -> int:
        """Those that are not the node groups'."""
        return self.login + self.lustre + self.services

    @property
    def total(self) -> int:
        """All of them."""
        return self.nodes + self.beside_nodes


def training_addresses(
    groups: Sequence[NodeGroup], *, login: int, login_type: InstanceType, lustre: LustreSize | None
) -> TrainingAddresses:
    """The addresses that a cluster takes from its training subnet, with room to grow.

    Args:
        groups: The node groups in its zone.
        login: Number of login nodes.
        login_type: Their type.
        lustre: The file system. None: there is none.
    """
    return TrainingAddresses(
        nodes=sum(group.addresses for group in groups),
        login=login * addresses(interfaces(login_type)),
        lustre=0 if lustre is None else _ROOM_FOR_GROWTH * lustre.addresses,
    )


def lustre_size(lustre: Lustre, *, zone: str) -> LustreSize:
    """The file system that a section asks for.

    Raises:
        ValueError: When FSx does not sell it in the zone.
    """
    offer = lustre_offer(zone)
    return size_lustre(
        throughput_mb_per_s=lustre.throughput.mb_per_s,
        capacity_gib=lustre.capacity.gib if lustre.capacity else 0,
        tier=lustre.tier.mb_per_s_per_tib if lustre.tier else None,
        efa=lustre.efa,
        # By the place alone, never by today's nodes: EFA is fixed for the life of a file system.
        efa_offered=offer.efa,
        tiers_offered=offer.tiers,
    )
