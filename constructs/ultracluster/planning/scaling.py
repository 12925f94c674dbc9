"""How many nodes of a group are up always."""

from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    Spot,
    UltraServerBlock,
)


def static_nodes(capacity: Capacity, count: int) -> int:
    """How many of so many nodes are up always when nobody says: all that are paid for anyway, and no others.

    An interruptible reservation may shrink, so that its nodes come as jobs do.
    """
    return 0 if isinstance(capacity, OnDemand | Spot | InterruptibleReservation) else count


def check_static_nodes(capacity: Capacity, *, minimum: int, count: int) -> list[str]:
    """What is wrong with the number of nodes that are up always; empty when nothing is.

    PCS wants groups in a Capacity Block to have as many nodes as the block:
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html (read 2026-11-21)
    """
    if not 0 <= minimum <= count:
        return [f"must be between 0 and the number of nodes, {count:,}, got {minimum:,}"]
    if minimum < count and isinstance(capacity, CapacityBlock | UltraServerBlock):
        return [
            f"a Capacity Block is paid for until it ends, so that all its nodes are up: {count:,}, got {minimum:,}; "
            "remove it"
        ]
    return []
