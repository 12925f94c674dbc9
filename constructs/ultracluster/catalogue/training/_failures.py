"""Failures of nodes that stop a job on all of them, and the time until the job runs again."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredRange:
    """A measured figure that differs between clusters.

    Args:
        low: Lowest published value.
        expected: Value to plan with.
        high: Highest published value.
        unit: Unit of the three.
        source: Sources, in the order low, expected, high.
        read_on: Date on which the sources were read.
    """

    low: float
    expected: float
    high: float
    unit: str
    source: str
    read_on: str


# 419 unexpected interruptions in 54 days on 2,048 nodes are 3.8. RSC-1's failure rate is 6.5. The mean time to failure
# of its jobs on 1,024 GPUs was 7.9 hours, which is 23.7 on 128 nodes: nodes that fail again and again count there
# (excerpts of both papers read 2026-11-22).
FAILURES_PER_1000_NODE_DAYS = MeasuredRange(
    low=3.8,
    expected=6.5,
    high=23.7,
    unit="failures per 1,000 node-days",
    source="Llama 3, section 3.3.4, https://arxiv.org/abs/2407.21783; Meta's cluster RSC-1, failure rate and mean time "
    "to failure of jobs on 1,024 GPUs (7.9 h), https://arxiv.org/abs/2410.21680",
    read_on="2026-11-22",
)

# The median of an automatic retry on 504 B200 is 11 minutes. The range is ours: a warm restart on a spare node, and a
# restart by hand.
RECOVERY_SECONDS = MeasuredRange(
    low=300,
    expected=660,
    high=1800,
    unit="seconds",
    source="median retry interval of 11 min on 63 nodes of eight B200, https://arxiv.org/abs/2605.09370; range: ours",
    read_on="2026-11-22",
)
