"""What a job sees of a queue: how many nodes it can have, and what a node is."""

from collections.abc import Sequence
from dataclasses import dataclass

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.hardware import InstanceType
from ultracluster.workloads.segments import segment_nodes


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueShape:
    """A queue whose nodes have GPUs.

    Args:
        cluster: Name of the cluster.
        name: Name of the queue, which is a key of `nodes` in the cluster file.
        instance_type: Type of its nodes.
        nodes: Nodes of the largest job: all of the queue but those that stand by. Of UltraServers, whole segments.
        standing_by: Nodes that such a job leaves free.
        efa_devices: EFA devices of a node.
        segment: Nodes of a job that lie in one NVLink domain together. None: no UltraServers.
        mounts: What every node mounts and a container sees too, such as `/fsx`.
        shared: The directory that all nodes share, below which users have theirs; one of the mounts. None: nothing
            is shared.
    """

    cluster: str
    name: str
    instance_type: InstanceType
    nodes: int
    standing_by: int
    efa_devices: int
    segment: int | None
    mounts: tuple[str, ...]
    shared: str | None

    @property
    def gpus_per_node(self) -> int:
        """GPUs of a node."""
        return self.instance_type.gpus

    @property
    def gpus(self) -> int:
        """GPUs of the largest job."""
        return self.nodes * self.gpus_per_node

    def cpus_per_task(self, tasks_per_node: int) -> int:
        """VCPUs of each of some equal tasks of a node."""
        return self.instance_type.vcpus // tasks_per_node


def queue_shapes(cluster: ClusterFile) -> tuple[QueueShape, ...]:
    """The queues of a cluster whose nodes have GPUs, in the order of the file."""
    found = []
    for name in cluster.nodes:
        groups = [group for group in cluster.node_groups if group.section == name]
        if groups[0].instance_type.gpus:
            found.append(_shape(name, groups, cluster))
    return tuple(found)


def _shape(name: str, groups: Sequence[NodeGroup], cluster: ClusterFile) -> QueueShape:
    first = groups[0]
    segment = min(segment_nodes(group.count) for group in groups) if first.ultraserver else None
    total = sum(group.count for group in groups)
    nodes = (
        sum(group.count // segment * segment for group in groups)
        if segment
        else total - sum(group.spare for group in groups)
    )
    storage = cluster.storage
    lustre = storage.lustre.mount if storage.lustre else None
    home = storage.home.mount if storage.home else None
    scratch = storage.scratch.path if first.instance_type.nvme[0] else None
    return QueueShape(
        cluster=cluster.name,
        name=name,
        instance_type=first.instance_type,
        nodes=nodes,
        standing_by=total - nodes,
        efa_devices=sum(one.kind != "interface" for one in first.interfaces),
        segment=segment,
        mounts=tuple(path for path in (lustre, home, scratch) if path),
        shared=lustre or home,
    )
