"""Node groups and instance types of a cluster file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from ultracluster.catalogue.ec2 import (
    INSTANCE_TYPES,
    Architecture,
    InstanceType,
    Interface,
    Layout,
    UltraServer,
    addresses,
    general_type_names,
    interfaces,
    known_type,
)
from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._orchestrators import OrchestratorTraits
from ultracluster.clusterfile._quantities import Size
from ultracluster.clusterfile.sections._capacity import Blocks
from ultracluster.clusterfile.sections._image import ImageOption
from ultracluster.clusterfile.sections._nodes import NodeGroupSection, NodeSlurm
from ultracluster.clusterfile.sections._word import did_you_mean
from ultracluster.planning.capacity import (
    BuiltImage,
    Capacity,
    Image,
    NamedGroup,
    PlacementOption,
    Strategy,
    UltraServerBlock,
    placement,
    static_nodes,
)

if TYPE_CHECKING:
    from ultracluster.boot import Effect, Taint

# Of a reservation's id, so that the node group of a Capacity Block keeps its name if others are removed.
_SUFFIX_LENGTH = 6
#: End of the name of the node group that is the canary of another one.
CANARY = "-canary"


class Catalogue(NamedTuple):
    """Types by name.

    Args:
        declared: The types that the file declares, by name.
    """

    declared: Mapping[str, InstanceType]

    def look_up(self, name: str) -> tuple[InstanceType, UltraServer | None]:
        """Return the type of a name, and the UltraServer if the name is of one.

        Raises:
            ValueError: If the name is not known.
        """
        if record := self.declared.get(name) or known_type(name):
            return record, None
        types = {**INSTANCE_TYPES, **self.declared}
        servers = {server.name: (record, server) for record in types.values() for server in record.ultraservers}
        if name in servers:
            return servers[name]
        hint = did_you_mean(name, [*types, *servers, *general_type_names()])
        raise ValueError(
            f"unknown instance type {name!r}; {hint}the known ones: ultracluster types; one that is new is declared "
            "under types:"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """A group of equal nodes.

    Args:
        name: Its name: its key in the file, with a suffix where the key names several Capacity Blocks.
        section: Its key in the file, which is also its default queue.
        instance_type: Its instance type.
        ultraserver: UltraServer that its instances form, or None.
        count: Number of instances, spare ones included.
        minimum: Number of instances that always run.
        spare: Number of instances that replace failed ones.
        capacity: Purchase option, or reservation.
        zone: Id of the zone.
        layout: Network interfaces of a node.
        image: Existing image of the nodes, or None.
        built: Image that the deployment builds, or None. Without both, it is AWS's image for the service.
        root_volume: Size of the root volume.
        placement_group: Requested placement group.
        labels: Labels of the nodes.
        slurm: Settings of the nodes in Slurm.
        taints: Taints of Kubernetes nodes and their effects, beside that of GPUs.
        os: Operating system of Kubernetes nodes.
        pods: Pods of a Kubernetes node that take addresses of its subnet.
        elastic: True if Karpenter launches and terminates the nodes.
        service_addresses: IPv4 addresses of a node whose network interfaces the service creates, or None.
        gpu_taint: Kubernetes nodes with GPUs have a taint, which keeps other pods off.
        canary: Its one node gets a new image or boot script before the other nodes of its section.
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
    built: BuiltImage | None = None
    root_volume: Size
    placement_group: PlacementOption
    labels: Mapping[str, str] = field(default_factory=dict)
    slurm: NodeSlurm = field(default_factory=NodeSlurm)
    taints: Mapping[str, str] = field(default_factory=dict)
    os: eks.NodeOs = "al2023"
    pods: int = 0
    elastic: bool = False
    service_addresses: int | None = None
    gpu_taint: bool = True
    canary: bool = False

    @property
    def image_option(self) -> ImageOption:
        """Image of the nodes, as the file names it."""
        return self.image or self.built or "aws"

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """Network interfaces of one node.

        Raises:
            ValueError: If the type cannot have the layout.
        """
        return interfaces(self.instance_type, self.layout)

    @property
    def addresses_per_node(self) -> int:
        """IPv4 addresses of one node in its subnet."""
        if self.service_addresses is not None:
            return self.service_addresses
        return addresses(self.interfaces) + (eks.pod_addresses(self.pods) if self.pods else 0)

    @property
    def addresses(self) -> int:
        """IPv4 addresses of all its nodes."""
        return self.count * self.addresses_per_node

    @property
    def placed(self) -> Strategy | NamedGroup | None:
        """New placement group, existing one, or None.

        Raises:
            ValueError: If EC2 does not allow it.
        """
        if self.service_addresses is not None:
            return None
        return placement(self.placement_group, record=self.instance_type, capacity=self.capacity, count=self.count)

    @property
    def gpus(self) -> int:
        """GPUs of the group."""
        return self.count * self.instance_type.gpus

    @property
    def nvlink_domain(self) -> int | None:
        """GPUs that share one NVLink domain, or None if it is not known, or there are no GPUs."""
        return self.ultraserver.gpus if self.ultraserver else self.instance_type.nvlink_domain

    @property
    def kubernetes_taints(self) -> "tuple[Taint, ...]":
        """Taints of its nodes in Kubernetes: that of GPUs, and those of the file."""
        from ultracluster.boot import GPU_TAINT, Taint

        taints = [Taint(key=key, effect=cast("Effect", effect)) for key, effect in sorted(self.taints.items())]
        return (*((GPU_TAINT,) if self.gpus and self.gpu_taint else ()), *taints)

    @property
    def features(self) -> list[str]:
        """Features of the nodes in Slurm, beside the name of the group: labels, and the UltraServer."""
        labels = [f"{name}-{value}" for name, value in sorted(self.labels.items())]
        return labels + ([self.ultraserver.name] if self.ultraserver else [])


def node_groups(
    name: str,
    section: NodeGroupSection,
    *,
    zone: str,
    catalogue: Catalogue,
    traits: OrchestratorTraits,
    image: ImageOption = "aws",
) -> tuple[NodeGroup, ...]:
    """Return the node group of a section, after that of its canary, or one for each of several Capacity Blocks.

    Args:
        name: Name of the section.
        section: The section.
        zone: Zone of the cluster.
        catalogue: Instance types of this release and of the file.
        traits: Properties of the orchestrator.
        image: Image of sections that name none.

    Raises:
        ValueError: If the type is not known.
    """
    record, server = catalogue.look_up(section.type)
    total = instances(section, server) + section.spare
    capacity = section.capacity
    parts = capacity.blocks if isinstance(capacity, Blocks) else (capacity,)
    each = -(-total // len(parts))
    image = image if section.image is None else section.image
    groups = tuple(
        NodeGroup(
            name=name if not isinstance(capacity, Blocks) else block_group_name(name, part),
            section=name,
            instance_type=record,
            ultraserver=server or _ultraserver(record, part, each),
            count=each,
            minimum=static_nodes(part, each) if section.min is None else _share(section.min, len(parts), index),
            spare=_share(section.spare, len(parts), index),
            capacity=part,
            zone=section.zone or zone,
            layout=section.layout or traits.default_layout(record),
            image=image if isinstance(image, Image) else None,
            built=image if isinstance(image, BuiltImage) else None,
            root_volume=section.root_volume,
            placement_group=section.placement_group,
            labels=section.labels,
            slurm=section.slurm,
            taints=section.taints,
            os=section.os or "al2023",
            elastic=section.elastic,
            pods=section.pods or traits.default_pods,
            service_addresses=None if traits.addresses is None else traits.addresses(record),
            gpu_taint=traits.kubernetes_nodes.gpu_taint,
        )
        for index, part in enumerate(parts)
    )
    return _with_canary(groups[0]) if section.canary and total > 1 else groups


def built(
    groups: Sequence[NodeGroup], login_type: InstanceType, login_image: ImageOption
) -> dict[Architecture, BuiltImage]:
    """Return the images that a deployment builds for Slurm, by architecture."""
    result = {group.instance_type.architecture: group.built for group in groups if group.built}
    if isinstance(login_image, BuiltImage):
        result.setdefault(login_type.architecture, login_image)
    return dict(sorted(result.items()))


def _with_canary(group: NodeGroup) -> tuple[NodeGroup, NodeGroup]:
    canary = replace(group, name=f"{group.name}{CANARY}", count=1, minimum=1, spare=0, canary=True)
    return canary, replace(group, count=group.count - 1, minimum=max(group.minimum - 1, 0))


def with_gpudirect(groups: Iterable[NodeGroup]) -> tuple[NodeGroup, ...]:
    """Return node groups whose types have GPUDirect Storage, as the file accepts."""
    return tuple(replace(group, instance_type=replace(group.instance_type, gpudirect_storage=True)) for group in groups)


def _share(number: int, parts: int, index: int) -> int:
    """Return the share of one of several groups; the first ones get the remainder."""
    return number // parts + (index < number % parts)


def instances(section: NodeGroupSection, server: UltraServer | None) -> int:
    """Return the number of instances of a section without spare ones; an UltraServer has several."""
    return section.count * (server.instances if server else 1)


def block_group_name(name: str, block: Capacity) -> str:
    """Return the name of the node group of one of several Capacity Blocks."""
    return f"{name}-{getattr(block, 'reservation_id', '')[-_SUFFIX_LENGTH:]}"


def _ultraserver(record: InstanceType, capacity: Capacity, count: int) -> UltraServer | None:
    if not isinstance(capacity, UltraServerBlock):
        return None
    size = capacity.instances or count
    return next((server for server in record.ultraservers if server.instances == size), None)
