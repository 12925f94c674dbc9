"""Placement groups: which one goes with which capacity and type."""

from dataclasses import dataclass
from typing import Literal, get_args

from ultracluster.hardware import InstanceType
from ultracluster.hardware.quotas import INSTANCES_PER_SPREAD_GROUP
from ultracluster.planning.capacity import Capacity, OpenReservation, TargetedReservation

#: Strategies of a placement group that is made.
Strategy = Literal["cluster", "partition", "spread"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedGroup:
    """A placement group that is there already.

    Args:
        name: Its name, in the account of the nodes.
    """

    name: str


#: `auto`: what fits; a strategy: a group is made; a group that is there; None: none.
PlacementWish = Literal["auto"] | Strategy | NamedGroup | None


def placement(
    wish: PlacementWish, *, record: InstanceType, capacity: Capacity, count: int | None = None
) -> Strategy | NamedGroup | None:
    """The placement group of a group of nodes.

    `auto` is the reservation's own group where it has one; else a cluster placement group for nodes with EFA that are
    bought on demand or on the Spot market; else none.

    Args:
        wish: What the user wants.
        record: Type of the nodes.
        capacity: How they are bought.
        count: How many there are. Default: not known, so not checked.

    Returns:
        The strategy of the group to make, or the group that is there, or None.

    Raises:
        ValueError: When EC2 would refuse the nodes, or start them outside their reservation.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html and cr-cpg.html (read 2026-11-21)
    """
    own = capacity.placement_group if isinstance(capacity, OpenReservation | TargetedReservation) else None
    if wish is None and own is None:
        return None
    if wish is None:
        raise ValueError(
            f"the reservation was made in the placement group {own}, and nodes outside it do not match, or are not "
            "close to each other; leave placement-group out"
        )
    if wish == "auto":
        if own is not None:
            return NamedGroup(name=own)
        good = capacity.makes_placement_group and record.supports_efa and "cluster" in record.placement_strategies
        return "cluster" if good else None
    if not capacity.takes_placement_group:
        raise ValueError(
            f"a placement group must be left out with {capacity.word}: EC2 places such instances itself, close "
            "together, and refuses, or starves, a placement group beside it"
        )
    if isinstance(wish, NamedGroup):
        if own is not None and wish.name != own:
            raise ValueError(
                f"the reservation was made in the placement group {own}, and instances in {wish.name} do not match it; "
                "leave the group out"
            )
        return wish
    if own is not None and wish == "cluster":
        return NamedGroup(name=own)
    if not capacity.makes_placement_group:
        raise ValueError(
            f"a {wish} placement group that is made here would keep the nodes out of {capacity.word}, which was not "
            "made in it; leave the group out, or name the one that the reservation was made in"
        )
    if wish not in record.placement_strategies:
        known = ", ".join(record.placement_strategies) or "none"
        raise ValueError(f"{record.name} can't be in a {wish} placement group; it takes {known}")
    if wish != "cluster" and record.gpus:
        raise ValueError(
            f"a {wish} placement group keeps nodes apart, and nodes with GPUs want to be close: {record.name} takes "
            "cluster, or none"
        )
    if wish == "spread" and count is not None and count > INSTANCES_PER_SPREAD_GROUP:
        raise ValueError(
            f"a spread placement group holds {INSTANCES_PER_SPREAD_GROUP} nodes in one zone, got {count}; use "
            "partition, or several node groups"
        )
    return wish
