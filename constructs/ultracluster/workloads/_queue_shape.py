"""Queues as jobs see them: the number and type of nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile import ClusterFile, NodeGroup, required_software
from ultracluster.planning.capacity import segment


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueShape:
    """A queue with GPU nodes.

    Args:
        cluster: Name of the cluster.
        name: Name of the queue.
        others: Nodes that a job excludes, as a Slurm hostlist, such as `old-[1-4]`.
        instance_type: Type of the nodes that a job gets.
        nodes: Nodes of the largest job: all but spare ones. Whole segments of UltraServers.
        efa_devices: EFA devices of a node.
        segment: Nodes in one NVLink domain, or None without UltraServers.
        mounts: Mounts of every node that containers see too, such as `/fsx`.
        shared: Mount that all nodes share, with the users' directories, or None without
            one.
        internet: Whether nodes reach public registries.
        resume_options: Options of srun for jobs that resume.
        software: Oldest versions of software instead of those of the type, by name of the part.
    """

    cluster: str
    name: str
    others: tuple[str, ...]
    instance_type: InstanceType
    nodes: int
    efa_devices: int
    segment: int | None
    mounts: tuple[str, ...]
    shared: str | None
    internet: bool
    resume_options: tuple[str, ...] = ()
    software: Mapping[str, str] = field(default_factory=dict)


def queue_shapes(cluster: ClusterFile) -> tuple[QueueShape, ...]:
    """Return the queues of a cluster with GPU nodes, in order of creation.

    A job has nodes of one type, one layout and one zone, for EFA does not cross zones. Where a queue has several kinds,
    it is the one with the most GPUs.
    """
    result = []
    for queue in cluster.queues:
        groups = [group for group in cluster.node_groups if group.section in queue.sections]
        kinds: dict[tuple[str, str, str], list[NodeGroup]] = {}
        for group in groups:
            kinds.setdefault((group.instance_type.name, group.layout, group.zone), []).append(group)
        largest = max(kinds.values(), key=lambda kind: sum(group.gpus for group in kind))
        if largest[0].instance_type.gpus:
            others = [f"{group.name}-[1-{group.count}]" for group in groups if group not in largest]
            result.append(_shape(queue.name, largest, cluster, others))
    return tuple(result)


def _shape(name: str, groups: Sequence[NodeGroup], cluster: ClusterFile, others: Sequence[str]) -> QueueShape:
    first = groups[0]
    together = min(segment(group.count) for group in groups) if first.ultraserver else None
    nodes = sum(group.count // together * together if together else group.count - group.spare for group in groups)
    storage = cluster.storage
    lustre = storage.lustre.mount if storage.lustre else None
    home = storage.home.mount if storage.home else None
    scratch = storage.scratch.path if first.instance_type.nvme[0] else None
    return QueueShape(
        cluster=cluster.name,
        name=name,
        others=tuple(others),
        instance_type=first.instance_type,
        nodes=nodes,
        efa_devices=sum(interface.kind != "interface" for interface in first.interfaces),
        segment=together,
        mounts=tuple(path for path in (lustre, home, scratch) if path),
        shared=lustre or home,
        internet=cluster.network.internet,
        resume_options=cluster.traits.resume_options,
        software=required_software(cluster),
    )
