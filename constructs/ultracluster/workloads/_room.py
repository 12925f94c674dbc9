"""Errors of jobs that do not fit their group or its NVLink domains, with the arithmetic."""

from dataclasses import dataclass
from math import lcm, prod

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning.lustre import LustreSpec
from ultracluster.rules import Message, error
from ultracluster.workloads._frameworks import DEGREES
from ultracluster.workloads._workload import Form, Settings, Workload

#: Rule of jobs that are too large.
JOB_NODES = error("job-nodes", "A job must fit into the nodes of its group that are not spare.")
#: Rule of jobs without an image.
JOB_IMAGE = error("job-image", "A published image of the workload must have the CPU architecture of the nodes.")
_TENSOR = error("job-tensor-parallel", "Tensor parallelism must divide the GPUs of an NVLink domain and of the job.")
#: Rule of degrees that do not divide a job.
PARALLEL = error("job-parallel", "Degrees of parallelism must divide the GPUs of the job, and nodes their roles.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """A group as a workload uses it.

    Args:
        name: Name of the group.
        record: Its instance type.
        nodes: Nodes without spare ones.
        efa: Whether nodes have EFA devices.
        domain: Nodes of an NVLink domain.
        mounts: Directories of file systems that the nodes mount.
        lustre: File system on which jobs keep their checkpoints, or None.
        internet: Whether nodes reach the internet.
        ready_seconds: Time that a scheduler gives pods to become ready, or None without such a time.
    """

    name: str
    record: InstanceType
    nodes: int
    efa: bool
    domain: int = 1
    mounts: tuple[str, ...] = ()
    lustre: LustreSpec | None = None
    internet: bool = True
    ready_seconds: int | None = None

    @property
    def gpus(self) -> int:
        """GPUs of a node."""
        return self.record.gpus

    @property
    def type(self) -> str:
        """Name of the instance type."""
        return self.record.name


def of_whole_nodes(gpus: int, room: Room) -> list[Message]:
    """Return the error of GPUs that are no whole nodes."""
    if gpus % room.gpus == 0:
        return []
    below, above = gpus // room.gpus * room.gpus, -(-gpus // room.gpus) * room.gpus
    nearest = f"{below:,} or {above:,}" if below else f"{above:,}"
    text = f"gpus={gpus:,} is {gpus / room.gpus:g} nodes of {room.gpus} GPUs, and a job has whole nodes: use {nearest}"
    return [JOB_NODES(text)]


def of_size(room: Room, nodes: int, replicas: int) -> list[Message]:
    """Return the error of a job that is larger than its group."""
    total = nodes * replicas
    if total <= room.nodes:
        return []
    times = f"{replicas} replicas x " if replicas > 1 else ""
    return [
        JOB_NODES(
            f"{times}{_count(nodes)} x {room.gpus} GPUs = {total * room.gpus:,} GPUs, and {room.name} has "
            f"{_count(room.nodes)} x {room.gpus} = {room.nodes * room.gpus:,} without spare ones"
        )
    ]


def of_segments(room: Room, nodes: int) -> list[Message]:
    """Return the error of nodes that are no whole NVLink domains."""
    if nodes <= room.domain or nodes % room.domain == 0:
        return []
    below = nodes // room.domain * room.domain
    text = f"{nodes} nodes are {nodes / room.domain:g} segments of {room.domain} nodes, each in one NVLink domain"
    return [JOB_NODES(f"{text}: use {below} or {below + room.domain}")]


def of_tensor(room: Room, nodes: int, size: int, origin: str = "") -> list[Message]:
    """Return the error of a degree of tensor parallelism."""
    domain, total = room.domain * room.gpus, nodes * room.gpus
    if domain % size:
        sizes = ", ".join(str(number) for number in range(1, domain + 1) if domain % number == 0)
        text = f"tensor_parallel={size}{origin} does not divide the {domain} GPUs of an NVLink domain"
        return [_TENSOR(f"{text} ({room.domain} x {room.gpus} of {room.type}): use one of {sizes}")]
    if total % size:
        text = f"{_count(nodes)} x {room.gpus} GPUs = {total} is not a multiple of tensor_parallel={size}"
        return [_TENSOR(f"{text}: use at least {-(-size // room.gpus)} nodes")]
    return []


def of_degrees(room: Room, nodes: int, settings: Settings) -> list[Message]:
    """Return the error of the product of the degrees of parallelism."""
    degrees = {name: getattr(settings, name) or 1 for name in DEGREES[:-1]}
    replica, total = prod(degrees.values()), nodes * room.gpus
    if total % replica and replica != degrees["tensor_parallel"]:
        shown = " x ".join(f"{name}={value}" for name, value in degrees.items() if value > 1)
        text = f"{shown} = {replica} GPUs, and {_count(nodes)} x {room.gpus} GPUs = {total} is not a multiple of it"
        return [PARALLEL(f"{text}: use a multiple of {lcm(replica, room.gpus) // room.gpus} nodes")]
    experts, stage = settings.expert_parallel or 1, total // degrees["pipeline_parallel"]
    if stage % experts:
        text = f"expert_parallel={experts} does not divide the {stage} GPUs of a stage"
        return [PARALLEL(f"{text} ({_count(nodes)} x {room.gpus} GPUs / {degrees['pipeline_parallel']})")]
    return []


def of_node(workload: Workload, room: Room, settings: Settings) -> list[Message]:
    """Return the error of degrees that a workload keeps in one node."""
    degrees = {name: value for name in workload.inside if (value := getattr(settings, name) or 1) > 1}
    if room.gpus % (product := prod(degrees.values())) == 0:
        return []
    shown = " x ".join(f"{name}={value}" for name, value in degrees.items())
    text = f"{shown} = {product} GPUs, which {workload.name} keeps in one node, and {room.type} has {room.gpus}"
    return [PARALLEL(f"{text}: use degrees whose product divides {room.gpus}")]


def of_roles(nodes: int, form: Form, settings: Settings) -> list[Message]:
    """Return the error of roles that leave no nodes for others."""
    for name, others in (("prefill", "computes tokens"), ("rollout", "trains")):
        # Dynamo always has both; veRL only if it is set.
        some = getattr(settings, name) or (1 if name == "prefill" else 0)
        if name in form.settings and some and some >= nodes:
            text = f"{name}={some} of {_count(nodes)} leaves none that {others}"
            return [PARALLEL(f"{text}: use at least {some + 1} nodes")]
    return []


def _count(nodes: int) -> str:
    return f"{nodes:,} node{'' if nodes == 1 else 's'}"
