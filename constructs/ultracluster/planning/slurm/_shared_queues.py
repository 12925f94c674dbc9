"""Node groups that may share a queue of AWS PCS."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueMember:
    """A node group of a queue."""

    name: str
    count: int
    ultraserver: bool
    block: str


def check_shared_queue(members: Sequence[QueueMember]) -> list[str]:
    """Return the errors of a queue over node groups; empty if PCS accepts it.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-nvidia-imex.html (read 2026-11-21)
    """
    ultra = [member for member in members if member.ultraserver]
    if not ultra:
        return []
    problems = []
    others = [member.name for member in members if not member.ultraserver]
    if others:
        problems.append(f"UltraServers need a separate queue; give {', '.join(others)} another queue")
    counts = sorted({member.count for member in ultra})
    # 9 and 18, or 2 and 8: the larger is the smaller doubled, some times.
    if any(count % counts[0] or (count // counts[0]).bit_count() != 1 for count in counts):
        problems.append(f"node counts of UltraServers in one queue must be powers of two of each other, got {counts}")
    if len({member.block for member in ultra}) < len(ultra):
        problems.append("each UltraServer has a Capacity Block of its own, and two groups name the same one")
    return problems
