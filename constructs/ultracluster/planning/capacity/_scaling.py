"""Number of nodes of a group."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

from ultracluster.planning.capacity._purchase_options import (
    Block,
    Capacity,
    InterruptibleReservation,
    OnDemand,
    Spot,
    TargetedReservation,
    UltraServerBlock,
)
from ultracluster.rules import error, shared

_COUNT = shared("capacity-count")
_END = error("capacity-end", "A schedule before the end of a Capacity Block needs that end.")
#: Also a rule of the cluster file.
DRAIN_TIME = error("drain-time", "A drain that begins before a Capacity Block leaves no time for jobs.")
# EKS scales a node group to zero 40 minutes before the end of its Capacity Block:
# https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html (read 2026-11-21)
_SCALED_TO_ZERO = timedelta(minutes=40)
# Time before the instances of an UltraServer must be terminated, in which pods write a checkpoint and end.
_LEAD = timedelta(minutes=30)


def static_nodes(capacity: Capacity, count: int) -> int:
    """Return the default number of static nodes: all that are paid for in any case, and no others.

    An interruptible reservation may shrink, so its nodes start with their jobs.
    """
    return 0 if isinstance(capacity, OnDemand | Spot | InterruptibleReservation) else count


def check_static_nodes(capacity: Capacity, *, minimum: int, count: int) -> list[str]:
    """Return the errors of a number of static nodes.

    PCS requires groups in a Capacity Block to have as many nodes as the block:
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html (read 2026-11-21)
    """
    if not 0 <= minimum <= count:
        return [f"must be between 0 and the number of nodes, {count:,}, got {minimum:,}"]
    if minimum < count and isinstance(capacity, Block):
        return [
            f"a Capacity Block is paid for until it ends, so that all its nodes are up: {count:,}, got {minimum:,}; "
            "remove it"
        ]
    return []


def check_count(capacity: Capacity, count: int) -> list[str]:
    """Return the errors of a number of nodes."""
    held = capacity.max_instances
    if count < 1:
        return [f"count must be at least 1, got {count}"]
    if held is not None and count > held:
        return [_COUNT(f"count must be at most the {held} instances that {capacity.word} holds, got {count}")]
    return []


def check_end(capacity: Capacity) -> list[str]:
    """Return the error of a schedule before the end of a capacity without one."""
    if isinstance(capacity, Block) and capacity.ends is not None:
        return []
    if isinstance(capacity, Block):
        return [_END(f"capacity must have an end: {type(capacity).__name__}(ends=...)")]
    return [_END(f"capacity must be a Capacity Block, got {capacity.word}, whose instances no end terminates")]


def check_drain(capacity: Capacity, drain: timedelta) -> list[str]:
    """Return the error of a drain that would begin before the Capacity Block; empty if a time is not known."""
    if not isinstance(capacity, Block) or capacity.starts is None or capacity.terminates_at is None:
        return []
    span = capacity.terminates_at - capacity.starts
    if drain < span:
        return []
    text = f"drain must be shorter than the {span} from the start of {capacity.reservation_id} to the termination"
    return [DRAIN_TIME(f"{text} of its nodes, got {drain}: no job would start")]


def waits(capacity: Capacity) -> bool:
    """Report whether nodes cannot start yet: their Capacity Block, or future-dated reservation, has not begun."""
    return _is_scheduled(capacity) and not capacity.active


def min_nodes(capacity: Capacity, count: int) -> int:
    """Return the minimum size of a group of nodes: none where a schedule starts them, or a service ends them.

    A minimum would keep EKS from scaling the group to zero before its block ends.
    """
    return 0 if _is_scheduled(capacity) else count


def waits_for_command(capacity: Capacity) -> bool:
    """Return whether a command must start the nodes: their Capacity Block has not begun, and has no start."""
    return isinstance(capacity, Block) and capacity.starts is None and not (capacity.active or capacity.ended)


def runs_until(capacity: Capacity) -> datetime | None:
    """Return when the nodes of a Capacity Block are scaled to zero on EKS, in UTC, or None if it is unknown."""
    if not isinstance(capacity, Block) or capacity.ends is None:
        return None
    before = capacity.last_call + _LEAD if isinstance(capacity, UltraServerBlock) else _SCALED_TO_ZERO
    return capacity.ends.astimezone(UTC) - before


def stops_at(capacity: Capacity) -> datetime | None:
    """Return when a schedule must scale nodes of EKS to zero, in UTC; None if EKS does, or nothing runs any more."""
    return runs_until(capacity) if isinstance(capacity, UltraServerBlock) and not capacity.ended else None


def starts_at(capacity: Capacity) -> datetime | None:
    """Return when nodes start by themselves, or None if they run, somebody starts them, or their block has ended."""
    if not _is_scheduled(capacity) or capacity.active or getattr(capacity, "ended", False):
        return None
    return capacity.starts


def expected_times(capacity: Capacity) -> tuple[datetime | None, datetime | None]:
    """Return when the nodes of a capacity start and are terminated, in UTC; None where it is not known, or never."""
    times = (getattr(capacity, name, None) for name in ("starts", "terminates_at"))
    start, end = (time and time.astimezone(UTC) for time in times)
    return start, end


def as_of(capacity: Capacity, now: datetime) -> Capacity:
    """Return a scheduled capacity as it is at a time: ended, whatever the file has, or active from its start."""
    if not _is_scheduled(capacity):
        return capacity
    until = runs_until(capacity)
    if until is not None and now >= until and not isinstance(capacity, TargetedReservation):
        return replace(capacity, active=False, ended=True)
    if capacity.active or capacity.starts is None or now < capacity.starts:
        return capacity
    return replace(capacity, active=True)


def _is_scheduled(capacity: Capacity) -> TypeGuard[Block | TargetedReservation]:
    """Report whether a capacity begins at a time of its own."""
    return isinstance(capacity, Block) or (isinstance(capacity, TargetedReservation) and capacity.starts is not None)
