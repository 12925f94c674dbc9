"""Sweeps over types and numbers of nodes, and the candidates that no other beats."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._failures import interruptions
from ultracluster.planning.workload._layout import Layout
from ultracluster.planning.workload._machine import Precision, precision_problems
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._requirements import idle_nodes, whole_nodes
from ultracluster.planning.workload._resolve import candidates
from ultracluster.planning.workload._search import Job, ranking, too_small
from ultracluster.planning.workload._sheet import checked
from ultracluster.planning.workload._training import MOST_SEQUENCE, absurd, default_batch, job_on

_DEFAULTS = Assumptions()
_DAY = 86_400
# Layouts that are tried at each number of nodes: the best of the power of two below, and the best of the one above.
_TRIED = 2


class Candidate(NamedTuple):
    """A type and a number of nodes.

    Args:
        instance_type: Name of the type.
        nodes: Instances.
        gpus: GPUs.
        days: Days from start to end.
        gpu_hours: GPU-hours.
        dollars: Cost, or None without a price.
        mfu: Predicted MFU.
        goodput: Share of the time in which the job makes progress.
        interruptions: Expected interruptions.
        layout: Parallel layout.
    """

    instance_type: str
    nodes: int
    gpus: int
    days: float
    gpu_hours: float
    dollars: float | None
    mfu: float
    goodput: float
    interruptions: float
    layout: Layout


def sweep(
    model: Model,
    *,
    tokens: float,
    instance_types: Iterable[InstanceType] = (),
    node_counts: Sequence[int],
    precision: Precision = "bf16",
    sequence: int = 8192,
    batch_tokens: int | None = None,
    dollars_per_node_hour: Mapping[str, float] | None = None,
    assumptions: Assumptions = _DEFAULTS,
) -> list[Candidate]:
    """Return a candidate for each type and number of nodes on which the model fits.

    Numbers of nodes over several UltraServers are rounded down to whole segments, and the cost is that of the
    UltraServers.

    Args:
        model: The model.
        tokens: Tokens of training.
        instance_types: Records of types. Default: all GPU types with NVLink, those with FP8 if `precision` is.
        node_counts: Numbers of nodes.
        precision: `bf16` or `fp8`.
        sequence: Tokens of a sequence.
        batch_tokens: Tokens of a step. Default: 4 to 16 million, by parameters.
        dollars_per_node_hour: Prices by name of the type.
        assumptions: Assumptions.

    Raises:
        ValueError: If figures are absurd, or the model fits on no candidate.
    """
    longest = min(sequence, MOST_SEQUENCE)
    batch_tokens = batch_tokens or max(default_batch(model.parameters), longest)
    checked(
        [
            *absurd("tokens", tokens, 1, 1e17),
            *absurd("the sequence", sequence, 1, MOST_SEQUENCE),
            *absurd("tokens of a step", batch_tokens, longest, 1e10),
            *(problem for count in node_counts for problem in absurd("nodes", count, 1, 65_536)),
            *([] if node_counts else ["node_counts must have at least one number of nodes"]),
            *precision_problems(precision),
            *assumptions.problems(),
        ]
    )
    flops, prices = 6 * model.active * tokens, dollars_per_node_hour or {}
    results: list[Candidate] = []
    largest: tuple[Job, int] | None = None
    failing = cache(partial(interruptions, assumptions=assumptions))
    for record in instance_types or candidates(precision):
        job = job_on(
            record, model=model, precision=precision, sequence=sequence, batch=int(batch_tokens) // sequence,
            assumptions=assumptions,
        )  # fmt: skip
        gpus = max(node_counts) * record.gpus
        if largest is None or gpus * job.machine.memory > largest[1] * largest[0].machine.memory:
            largest = job, gpus
        known: dict[int, list[Layout]] = {}
        full = flops / job.machine.peak(precision)
        price = prices.get(record.name)
        for nodes in dict.fromkeys(whole_nodes(record, count) for count in node_counts):
            gpus = nodes * record.gpus
            power = gpus.bit_length()
            for near in (power - 1, power):
                if near not in known:
                    known[near] = [layout for layout, _ in ranking(job, 1 << near, _TRIED)]
            rate, layout = _best(job, [*known[power - 1], *known[power][:1]], gpus)
            if layout is None:
                continue
            mfu = rate * 6 * model.active / gpus / job.machine.peak(precision)
            days_between, _, goodput = failing(nodes)
            days = full / gpus / mfu / _DAY / goodput
            results.append(
                Candidate(
                    record.name,
                    nodes,
                    gpus,
                    days,
                    days * 24 * gpus,
                    None if price is None else price * (nodes + idle_nodes(record, nodes)) * days * 24,
                    mfu,
                    goodput,
                    days / days_between,
                    layout,
                )
            )
    if largest is not None and not results:
        raise ValueError(f"the model fits on no candidate; on the largest, {too_small(*largest)}")
    return results


def _best(job: Job, layouts: Sequence[Layout], gpus: int) -> tuple[float, Layout | None]:
    """Return the highest throughput of all GPUs, and its layout with as many replicas as there is room for."""
    best: tuple[float, Layout | None] = (0.0, None)
    for known in layouts:
        layout = known.with_data(gpus, job.batch)
        if layout is None:
            continue
        rate = job.step(layout).tokens_per_second * layout.gpus
        if rate > best[0]:
            best = rate, layout
    return best


def pareto(results: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates that no other beats in days, GPU-hours and cost, the fastest first.

    A candidate beats another if it is not slower, and takes neither more GPU-hours nor, with prices, more money.
    """
    front: list[Candidate] = []
    for candidate in sorted(results, key=lambda each: (each.days, each.gpu_hours)):
        if not any(_beats(other, candidate) for other in reversed(front)):
            front.append(candidate)
    return front


def _beats(other: Candidate, candidate: Candidate) -> bool:
    if other.gpu_hours > candidate.gpu_hours:
        return False
    return other.dollars is None or candidate.dollars is None or other.dollars <= candidate.dollars
