"""A node group of a cluster file, with what follows from it."""

from dataclasses import dataclass

from ultracluster.clusterfile.quantities import Size
from ultracluster.clusterfile.sections import NodeGroupSection
from ultracluster.hardware import InstanceType, Interface, Layout, addresses, instance_type, interfaces
from ultracluster.planning import Capacity

# What AWS's own templates for PCS use; that PCS takes EFA-only devices is not shown. See
# https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs (read 2026-11-20).
_PCS_LAYOUT: Layout = "all-efa"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """A group of equal nodes.

    Args:
        name: Its key in the file.
        instance_type: The record of its type.
        count: How many nodes.
        capacity: How they are bought.
        layout: Which network interfaces a node gets.
        image: An `ami-...`. None: the service's.
        root_volume: Size of the root volume.
        placement_group: Whether to make a placement group, where the capacity allows one.
    """

    name: str
    instance_type: InstanceType
    count: int
    capacity: Capacity
    layout: Layout
    image: str | None
    root_volume: Size
    placement_group: bool

    @staticmethod
    def of(name: str, section: NodeGroupSection) -> "NodeGroup":
        """The group that a section of the file describes."""
        record = instance_type(section.type)
        return NodeGroup(
            name=name,
            instance_type=record,
            count=section.count,
            capacity=section.capacity,
            layout=section.layout or default_layout(record),
            image=section.image,
            root_volume=section.root_volume,
            placement_group=section.placement_group,
        )

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """The network interfaces of one node.

        Raises:
            ValueError: When the type can't have the layout.
        """
        return interfaces(self.instance_type, self.layout)

    @property
    def addresses_per_node(self) -> int:
        """IPv4 addresses that one node takes from its subnet."""
        return addresses(self.interfaces)

    @property
    def addresses(self) -> int:
        """IPv4 addresses that the group takes from its subnet."""
        return self.count * self.addresses_per_node

    @property
    def makes_placement_group(self) -> bool:
        """Whether a placement group is made for it."""
        return self.placement_group and self.capacity.placement_group_allowed and self.instance_type.supports_efa

    @property
    def gpus(self) -> int:
        """GPUs of the group."""
        return self.count * self.instance_type.gpus

    @property
    def lustre_efa_connections(self) -> int:
        """EFA connections that the group opens to a file system with EFA, when its clients use EFA."""
        return self.count * (self.instance_type.lustre_efa_interfaces or 0)


def default_layout(record: InstanceType) -> Layout:
    """The layout of a node under PCS, when the file names none."""
    try:
        interfaces(record, _PCS_LAYOUT)
    except ValueError:
        return "one-ip"
    return _PCS_LAYOUT
