"""Placement groups for each capacity and instance type."""

from dataclasses import dataclass
from typing import Literal, get_args

from ultracluster.catalogue.ec2 import INSTANCES_PER_SPREAD_GROUP, InstanceType
from ultracluster.planning.capacity._purchase_options import Capacity, OpenReservation, TargetedReservation
from ultracluster.rules import shared

PLACEMENT = shared("placement-group")
#: Strategies of a new placement group.
Strategy = Literal["cluster", "partition", "spread"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedGroup:
    """An existing placement group.

    Args:
        name: Its name, in the account of the nodes.
    """

    name: str


#: `auto` for the group that fits, a strategy for a new group, an existing group, or None for no group.
PlacementOption = Literal["auto"] | Strategy | NamedGroup | None


def placement(
    requested: PlacementOption, *, record: InstanceType, capacity: Capacity, count: int | None = None
) -> Strategy | NamedGroup | None:
    """Return the placement group of a node group.

    `auto` is the group of the reservation, if it has one; otherwise a cluster placement group for nodes with EFA that
    are purchased on demand or on the Spot market; otherwise no group.

    Args:
        requested: Placement option of the node group.
        record: Type of the nodes.
        capacity: Purchase option of the nodes.
        count: Number of nodes. Default: not known, so not checked.

    Returns:
        The strategy of the group to create, or the existing group, or None.

    Raises:
        ValueError: If EC2 would refuse the nodes, or start them outside their reservation.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html and cr-cpg.html (read 2026-11-21)
    """
    reserved = capacity.placement_group if isinstance(capacity, OpenReservation | TargetedReservation) else None
    if requested is None and reserved is None:
        return None
    if requested is None:
        raise ValueError(
            f"the reservation was created in the placement group {reserved}, and nodes outside it do not match, or are "
            "not close to each other; leave placement-group out"
        )
    if requested == "auto":
        if reserved is not None:
            return NamedGroup(name=reserved)
        good = capacity.makes_placement_group and record.supports_efa and "cluster" in record.placement_strategies
        return "cluster" if good else None
    if not capacity.takes_placement_group:
        raise ValueError(
            f"a placement group must be left out with {capacity.word}: EC2 places such instances itself, close "
            "together, and refuses, or starves, a placement group beside it"
        )
    if isinstance(requested, NamedGroup):
        if reserved is not None and requested.name != reserved:
            raise ValueError(
                f"the reservation was created in the placement group {reserved}, and instances in {requested.name} do "
                "not match it; leave the group out"
            )
        return requested
    if reserved is not None and requested == "cluster":
        return NamedGroup(name=reserved)
    if not capacity.makes_placement_group:
        raise ValueError(
            f"a {requested} placement group that is created here would keep the nodes out of {capacity.word}, which "
            "was not created in it; leave the group out, or name the one that the reservation was created in"
        )
    if requested not in record.placement_strategies:
        known = ", ".join(record.placement_strategies) or "none"
        raise ValueError(f"{record.name} can't be in a {requested} placement group; it supports {known}")
    if requested != "cluster" and record.gpus:
        raise ValueError(
            f"a {requested} placement group keeps nodes apart, and nodes with GPUs need to be close: {record.name} "
            "supports cluster, or none"
        )
    if requested == "spread" and count is not None and count > INSTANCES_PER_SPREAD_GROUP:
        raise ValueError(
            f"a spread placement group holds {INSTANCES_PER_SPREAD_GROUP} nodes in one zone, got {count}; use "
            "partition, or several node groups"
        )
    return requested
