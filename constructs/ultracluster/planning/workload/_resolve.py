"""Type, nodes, days and MFU of a training job from two or more of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, InstanceType
from ultracluster.planning.capacity import check_segments, segment
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import interruptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Precision
from ultracluster.planning.workload._search import Job, fastest
from ultracluster.planning.workload._step import Step

_DAY = 86_400
MOST_NODES = 65_536
_CLOSE = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A job with all of type, nodes, days and MFU."""

    record: InstanceType
    job: Job
    layout: Layout
    step: Step
    nodes: int
    mfu: float
    predicted: float
    #: Days of computation, and from start to end.
    compute_days: float
    days: float
    goodput: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Given figures of a training job. `job_of` returns the job on a type."""

    flops: float
    flops_per_token: float
    precision: Precision
    job_of: Callable[[InstanceType], Job]
    assumptions: Assumptions
    record: InstanceType | None
    nodes: int | None
    days: float | None
    mfu: float | None
    layout: Layout | None


def resolve(requested: Wanted) -> Resolved:
    """Return the job with what was not given.

    Raises:
        ValueError: If fewer than two are given, they contradict each other, or no type can do it.
    """
    given = {"a type": requested.record, "nodes": requested.nodes, "days": requested.days, "an MFU": requested.mfu}
    named = [name for name, value in given.items() if value is not None]
    if len(named) < 2:
        raise ValueError(
            "give two of type, nodes, days and MFU, which determine the others; "
            f"{' and '.join(named) or 'none'} is given"
        )
    if requested.record is not None:
        return _on_type(requested, requested.record)
    results, reasons = [], []
    for record in candidates(requested.precision):
        try:
            results.append(_on_type(requested, record))
        except ValueError as error:
            reasons.append(f"{record.name}: {error}")
    if not results:
        raise ValueError("no type can do it: " + " / ".join(reasons))
    if requested.nodes is None:  # days and MFU: the fewest nodes
        return min(results, key=lambda result: (result.nodes, result.days))
    if requested.days is None:  # nodes and MFU: the earliest end
        return min(results, key=lambda result: result.days)
    return min(results, key=lambda result: result.job.machine.peak(requested.precision))


def candidates(precision: Precision) -> list[InstanceType]:
    """Return the types of the catalogue that train over several nodes."""
    return [
        record
        for record in INSTANCE_TYPES.values()
        if record.gpu and (record.nvlink_domain or 1) > 1 and (precision != "fp8" or record.gpu.fp8_pflops)
    ]


def check_whole(record: InstanceType, nodes: int) -> None:
    """Check that a job over several UltraServers has whole segments; other types have none.

    Raises:
        ValueError: If it has not; Slurm does not start it.
    """
    for problem in check_segments(nodes, record.ultraservers[-1]) if record.ultraservers else ():
        raise ValueError(problem)


def _on_type(requested: Wanted, record: InstanceType) -> Resolved:
    job = requested.job_of(record)
    if requested.nodes:
        check_whole(record, requested.nodes)
    nodes = requested.nodes or _nodes(requested, record, job)
    result = _on_nodes(requested, record, job, nodes)
    if requested.days is not None and requested.nodes is not None:
        _check_days(requested, result)
    return result


def _on_nodes(requested: Wanted, record: InstanceType, job: Job, nodes: int) -> Resolved:
    """Return the job on this many nodes, at the given or the predicted MFU."""
    gpus = nodes * record.gpus
    if requested.layout is None:
        layout, step = fastest(job, gpus)
    else:
        layout = _given_layout(job, requested.layout, gpus)
        step = job.step(layout)
    peak = job.machine.peak(requested.precision)
    # GPUs that the layout leaves idle count: they are paid for.
    predicted = step.tokens_per_second * layout.gpus / gpus * requested.flops_per_token / peak
    goodput = interruptions(nodes, requested.assumptions).goodput
    mfu = requested.mfu or predicted
    if requested.days is not None and requested.nodes is not None and requested.mfu is None:
        mfu = requested.flops / (gpus * peak * requested.days * _DAY * goodput)
    compute = requested.flops / (gpus * peak * mfu) / _DAY
    return Resolved(
        record=record, job=job, layout=layout, step=step, nodes=nodes, mfu=mfu, predicted=predicted,
        compute_days=compute, days=compute / goodput, goodput=goodput,
    )  # fmt: skip


def _nodes(requested: Wanted, record: InstanceType, job: Job) -> int:
    """Return the fewest nodes that hold the model and, if days are given, end in time."""

    def good(nodes: int) -> bool:
        try:
            result = _on_nodes(requested, record, job, nodes)
        except ValueError:
            return False
        return requested.days is None or result.days <= requested.days

    unit = segment(record.ultraservers[-1].instances) if record.ultraservers else 1
    high = unit
    while high <= MOST_NODES and not good(high):
        high *= 2
    if high > MOST_NODES:
        result = _on_nodes(requested, record, job, MOST_NODES // unit * unit)
        raise ValueError(
            f"no number of nodes of {record.name} ends in {requested.days:g} days: {result.nodes:,} take "
            f"{result.days:,.1f}, {result.days / (requested.days or 1):,.1f} times as long"
        )
    low = high // 2
    while high - low > unit:
        middle = (low + high) // 2 // unit * unit
        if middle in (low, high):
            break
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _check_days(requested: Wanted, result: Resolved) -> None:
    """Refuse days that the nodes cannot keep.

    Raises:
        ValueError: If the MFU that the days need is out of reach, or another one is given.
    """
    days = requested.days or 0
    what = f"{result.nodes:,} nodes of {result.record.name}"
    if requested.mfu is not None:
        if abs(result.days / days - 1) > _CLOSE:
            raise ValueError(
                f"{what} at an MFU of {requested.mfu:g} take {result.days:,.1f} days, and {days:g} are given, "
                f"{abs(days / result.days - 1):.0%} {'less' if result.days > days else 'more'}; leave one of type, "
                "nodes, days and MFU out"
            )
        return
    most = result.predicted * (1 + requested.assumptions.mfu_error)
    if result.mfu > most:
        needed = ceil(result.nodes * result.mfu / result.predicted)
        raise ValueError(
            f"{what} need an MFU of {result.mfu:.3g} to end in {days:g} days, and {result.predicted:.3g} is predicted, "
            f"at most {most:.3g}: {result.mfu / result.predicted:.2f} times as much; about {needed:,} nodes or "
            f"{days * result.mfu / result.predicted:,.1f} days would do"
        )


def _given_layout(job: Job, layout: Layout, gpus: int) -> Layout:
    """Return a given layout on all GPUs.

    Raises:
        ValueError: If it needs more GPUs or more memory than there are. All reasons at once.
    """
    degrees = ("tensor", "pipeline", "context", "expert", "micro_batch", "virtual")
    named = {name: getattr(layout, name) for name in degrees}
    if wrong := [f"{name} must be at least 1, got {degree}" for name, degree in named.items() if degree < 1]:
        raise ValueError("; ".join(wrong))
    replica = layout.tensor * layout.pipeline * layout.context
    layout = replace(layout, data=max(1, min(gpus // replica, job.batch)))
    problems = []
    if replica > gpus:
        problems.append(f"a replica ({layout}) needs {replica:,} GPUs, {replica - gpus:,} more than {gpus:,}")
    if layout.tensor > job.machine.domain:
        problems.append(f"tensor parallelism of {layout.tensor} leaves the NVLink domain of {job.machine.domain} GPUs")
    if layout.expert > max(1, min(job.model.experts, layout.gpus // layout.pipeline)):
        most = max(1, min(job.model.experts, layout.gpus // layout.pipeline))
        problems.append(f"expert parallelism of {layout.expert} is above {most}, the experts or GPUs of a stage")
    elif job.model.experts % layout.expert:
        problems.append(f"expert parallelism of {layout.expert} does not divide the {job.model.experts} experts")
    if layout.pipeline > job.model.layers:
        problems.append(f"{layout.pipeline} pipeline stages are more than the {job.model.layers} layers")
    if job.model.heads % layout.tensor:
        problems.append(
            f"tensor parallelism of {layout.tensor} does not divide the {job.model.heads} attention heads, "
            f"{job.model.heads % layout.tensor} of which remain"
        )
    if layout.virtual > 1 and layout.micro_batch * layout.data * layout.pipeline > job.batch:
        problems.append(
            f"a step of {job.batch:,} sequences has fewer micro-batches than the {layout.pipeline} stages for each of "
            f"{layout.data:,} replicas, which the interleaved schedule needs; use no virtual stages, or a larger batch"
        )
    # The reserve is for layouts that the planner chooses.
    need, room = job.memory(layout), job.machine.memory
    if need > room:
        gib = 1 << 30
        problems.append(
            f"the layout ({layout}) needs {need / gib:,.0f} GiB of each GPU, {(need - room) / gib:,.0f} GiB more than "
            f"the {room / gib:,.0f} GiB of a GPU of {job.machine.name}"
        )
    if problems:
        raise ValueError("; ".join(problems))
    return layout
