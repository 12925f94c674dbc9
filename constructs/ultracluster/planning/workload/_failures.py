"""Failures of nodes, checkpoints and goodput, and the number of spare nodes."""

from math import exp, sqrt
from typing import NamedTuple

from ultracluster.catalogue.training import FAILURES_PER_1000_NODE_DAYS
from ultracluster.planning.workload._assumptions import Assumptions

_DAY = 86_400
# Probability with which the spare nodes are enough while others are repaired.
_ENOUGH_SPARES = 0.99


class Interruptions(NamedTuple):
    """Failures of a job and what they cost.

    Args:
        days_between: Mean days between two interruptions.
        interval: Seconds between two checkpoints that lose the least time.
        goodput: Share of the time in which the job makes progress.
    """

    days_between: float
    interval: float
    goodput: float


def days_between_interruptions(nodes: int, failures: float = FAILURES_PER_1000_NODE_DAYS.expected) -> float:
    """Return the mean days between two unexpected interruptions of a job on all nodes.

    Args:
        nodes: At least 1.
        failures: Failures per 1,000 node-days. Default: 6.5.

    Raises:
        ValueError: If `nodes` is below 1, or the rate is not above 0.
    """
    if nodes < 1:
        raise ValueError(f"nodes must be at least 1, got {nodes}")
    if not failures > 0:
        raise ValueError(f"failures per 1,000 node-days must be above 0, got {failures}")
    return 1000 / failures / nodes


def checkpoint_interval(stall: float, seconds_between: float) -> float:
    """Return the interval between checkpoints that loses the least time.

    Daly's higher-order estimate: J. T. Daly, Future Generation Computer Systems 22 (2006) 303-312, equation 37. Its
    first term is Young's, sqrt(2 * stall * time between failures).

    Args:
        stall: Seconds that the job waits for a checkpoint.
        seconds_between: Mean seconds between two interruptions.
    """
    if stall >= 2 * seconds_between:
        return seconds_between
    ratio = stall / (2 * seconds_between)
    return sqrt(2 * stall * seconds_between) * (1 + sqrt(ratio) / 3 + ratio / 9) - stall


def checkpoint_seconds(nodes: int, stall: float | None = None) -> float:
    """Return the interval between checkpoints of a job that loses the least time, with the default assumptions.

    Args:
        nodes: Nodes of the job.
        stall: Seconds that the job waits for a checkpoint. Default: 60.
    """
    assumptions = Assumptions()
    stall = assumptions.checkpoint_stall_seconds if stall is None else stall
    return checkpoint_interval(stall, _DAY * days_between_interruptions(nodes, assumptions.failures_per_1000_node_days))


def interruptions(
    nodes: int, assumptions: Assumptions, *, failures: float | None = None, recovery: float | None = None
) -> Interruptions:
    """Return failures, interval and goodput of a job on all nodes.

    A failure costs half an interval and the recovery; each interval has one stall.

    Args:
        nodes: Nodes of the job.
        assumptions: Failure rate, recovery and stall.
        failures: Failures per 1,000 node-days instead of the assumed.
        recovery: Seconds instead of the assumed.
    """
    rate = assumptions.failures_per_1000_node_days if failures is None else failures
    recovery = assumptions.recovery_seconds if recovery is None else recovery
    stall = assumptions.checkpoint_stall_seconds
    if rate <= 0:
        return Interruptions(float("inf"), _DAY, _DAY / (_DAY + stall))
    days = days_between_interruptions(nodes, rate)
    interval = checkpoint_interval(stall, days * _DAY)
    lost = stall / interval + (interval / 2 + recovery) / (days * _DAY)
    return Interruptions(days, interval, 1 / (1 + lost))


def spare_nodes(nodes: int, assumptions: Assumptions) -> int:
    """Return the nodes that replace failed ones until these are repaired, in 99 % of the cases."""
    expected = nodes * assumptions.failures_per_1000_node_days / 1000 * assumptions.repair_days
    if expected > 500:  # exp underflows; the normal distribution is as good
        return round(expected + 2.33 * sqrt(expected))
    spares, term = 0, exp(-expected)
    total = term
    while total < _ENOUGH_SPARES:
        spares += 1
        term *= expected / spares
        total += term
    return spares
