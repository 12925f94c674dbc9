"""The node groups of a cluster file, with what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from ultracluster.boot import GPU_TAINT, Effect, Taint
from ultracluster.catalogue.ec2 import InstanceType, Interface, Layout, UltraServer, addresses, interfaces
from ultracluster.catalogue.schedulers import eks, pcs
from ultracluster.clusterfile._catalogue import Catalogue
from ultracluster.clusterfile._quantities import Size
from ultracluster.clusterfile.sections._capacity import Blocks
from ultracluster.clusterfile.sections._nodes import NodeGroupSection, NodeSlurm
from ultracluster.planning.capacity import (
    Capacity,
    Image,
    NamedGroup,
    PlacementOption,
    Strategy,
    UltraServerBlock,
    placement,
    static_nodes,
)

# Of a reservation's id, so that a group that has one of several Capacity Blocks keeps its name when others go.
_SUFFIX_LENGTH = 6
#: The orchestrator whose nodes run pods.
KUBERNETES = "kubernetes"
# Two prefixes of 16 addresses hold what daemons and a job with one pod a GPU take.
DEFAULT_PODS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """A group of equal nodes.

    Args:
        name: Its name: its key in the file, with a suffix where the key names several Capacity Blocks.
        section: Its key in the file, which is also the queue that hands out its nodes.
        instance_type: The record of its type.
        ultraserver: The UltraServer that it is. None: it is none.
        count: How many instances, spare ones included.
        minimum: How many of them are up always.
        spare: How many of them stand by for one that fails.
        capacity: How they are bought.
        zone: Id of their zone.
        layout: Which network interfaces a node gets.
        image: Their image. None: the service's.
        root_volume: Size of the root volume.
        placement_group: The placement group that is wished for.
        labels: Labels of the nodes.
        slurm: What Slurm is told of them.
        taints: Taints of the nodes and their effects, under Kubernetes, beside that of GPUs.
        os: Their operating system, under Kubernetes.
        pods: Pods of a node that take addresses of its subnet, under Kubernetes. 0: none do.
        elastic: Whether Karpenter launches and ends them, under Kubernetes.
    """

    name: str
    section: str
    instance_type: InstanceType
    ultraserver: UltraServer | None
    count: int
    minimum: int
    spare: int
    capacity: Capacity
    zone: str
    layout: Layout
    image: Image | None
    root_volume: Size
    placement_group: PlacementOption
    labels: Mapping[str, str] = field(default_factory=dict)
    slurm: NodeSlurm = field(default_factory=NodeSlurm)
    taints: Mapping[str, str] = field(default_factory=dict)
    os: eks.NodeOs = "al2023"
    pods: int = 0
    elastic: bool = False

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
        return addresses(self.interfaces) + (eks.pod_addresses(self.pods) if self.pods else 0)

    @property
    def addresses(self) -> int:
        """IPv4 addresses that the group takes from its subnet."""
        return self.count * self.addresses_per_node

    @property
    def placed(self) -> Strategy | NamedGroup | None:
        """The placement group to make, or the one that is there, or None.

        Raises:
            ValueError: When EC2 would refuse it.
        """
        return placement(self.placement_group, record=self.instance_type, capacity=self.capacity, count=self.count)

    @property
    def gpus(self) -> int:
        """GPUs of the group."""
        return self.count * self.instance_type.gpus

    @property
    def nvlink_domain(self) -> int | None:
        """GPUs that share one NVLink domain. None: not known, or no GPU."""
        return self.ultraserver.gpus if self.ultraserver else self.instance_type.nvlink_domain

    @property
    def kubernetes_taints(self) -> tuple[Taint, ...]:
        """What keeps pods off its nodes, under Kubernetes: that of GPUs, and those of the file."""
        own = tuple(Taint(key=key, effect=cast(Effect, effect)) for key, effect in sorted(self.taints.items()))
        return (*((GPU_TAINT,) if self.gpus else ()), *own)

    @property
    def features(self) -> list[str]:
        """What Slurm knows the nodes by, beside the name of the group: labels, and the UltraServer that they are."""
        labels = [f"{name}-{value}" for name, value in sorted(self.labels.items())]
        return labels + ([self.ultraserver.name] if self.ultraserver else [])


def node_groups(
    name: str, section: NodeGroupSection, *, zone: str, catalogue: Catalogue, orchestrator: str
) -> tuple[NodeGroup, ...]:
    """The groups that a section of the file describes: one, or one for each of several Capacity Blocks.

    Args:
        name: Its key.
        section: What stands there.
        zone: The cluster's zone.
        catalogue: The types that the file can name.
        orchestrator: What hands out the nodes.

    Raises:
        ValueError: When there is no such type.
    """
    record, server = catalogue.look_up(section.type)
    total = instances(section, server) + section.spare
    capacity = section.capacity
    bought = capacity.blocks if isinstance(capacity, Blocks) else (capacity,)
    each = -(-total // len(bought))
    kubernetes = orchestrator == KUBERNETES
    return tuple(
        NodeGroup(
            name=name if not isinstance(capacity, Blocks) else block_group_name(name, part),
            section=name,
            instance_type=record,
            ultraserver=server or _ultraserver(record, part, each),
            count=each,
            minimum=static_nodes(part, each) if section.min is None else _share(section.min, len(bought), index),
            spare=_share(section.spare, len(bought), index),
            capacity=part,
            zone=section.zone or zone,
            layout=section.layout or ("one-ip" if kubernetes else pcs.default_layout(record)),
            image=section.image,
            root_volume=section.root_volume,
            placement_group=section.placement_group,
            labels=section.labels,
            slurm=section.slurm,
            taints=section.taints,
            os=section.os or "al2023",
            elastic=section.elastic,
            pods=(section.pods or DEFAULT_PODS) if kubernetes else 0,
        )
        for index, part in enumerate(bought)
    )


def _share(number: int, parts: int, index: int) -> int:
    """What one of several groups gets of a number: the first ones get what is over."""
    return number // parts + (index < number % parts)


def instances(section: NodeGroupSection, server: UltraServer | None) -> int:
    """Instances that a section asks for, spare ones not included: an UltraServer counts as all of its own."""
    return section.count * (server.instances if server else 1)


def block_group_name(name: str, block: Capacity) -> str:
    """The name of the group that has one of several Capacity Blocks."""
    return f"{name}-{getattr(block, 'reservation_id', '')[-_SUFFIX_LENGTH:]}"


def _ultraserver(record: InstanceType, capacity: Capacity, count: int) -> UltraServer | None:
    if not isinstance(capacity, UltraServerBlock):
        return None
    size = capacity.instances or count
    return next((server for server in record.ultraservers if server.instances == size), None)
