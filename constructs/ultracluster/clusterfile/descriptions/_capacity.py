"""End of the capacity of a node group."""

from datetime import datetime
from typing import NamedTuple

from ultracluster.clusterfile._node_group import NodeGroup


class End(NamedTuple):
    """End of a Capacity Block, and its words."""

    at: datetime
    words: str


def end_of(group: NodeGroup) -> End | None:
    """Return when the instances of a group are terminated, or None."""
    at = getattr(group.capacity, "terminates_at", None)
    method = "to be terminated by you before" if group.ultraserver else "terminated from"
    return None if at is None else End(at, f"{method} {at:%Y-%m-%d %H:%M} UTC")
