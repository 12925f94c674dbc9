"""Generate the reference of purchase options: what each service receives."""

from typing import get_args

from docs_reference.markdown import page, table
from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Service,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
    purchase,
)

_ID = "cr-0123456789abcdef0"
_GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/pool"
_PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine"
#: One of each purchase option; `options_page` refuses to leave one out.
_OPTIONS: tuple[Capacity, ...] = (
    OnDemand(),
    Spot(),
    OpenReservation(),
    TargetedReservation(reservation_id=_ID),
    ReservationGroup(arn=_GROUP),
    CapacityBlock(reservation_id=_ID),
    UltraServerBlock(reservation_id=_ID),
    InterruptibleReservation(reservation_id=_ID),
    TrainingPlan(arn=_PLAN),
)
_ABOUT = """What each service and the launch template receive for a purchase option, as
`planning.capacity.purchase(capacity, service)` returns it. [Nodes](../guides/nodes.md#choose-a-purchase-option) has
the keys of the cluster file. *refused*: an error names the reason and the nearest option that works. EKS groups are
managed, except where only self-managed ones (Auto Scaling groups) support the option; both with Amazon Linux 2023 or
Bottlerocket, and UltraServers with Amazon Linux only. HyperPod supports Spot with EKS orchestration only. PCS and EKS
accept a group of on-demand capacity reservations, not of Capacity Blocks."""
_SERVICES = {
    "pcs": "AWS PCS",
    "eks-managed": "EKS managed node group",
    "self-managed": "Auto Scaling group",
    "hyperpod": "HyperPod",
}


def capacity_page() -> str:
    """Page with a row for each purchase option."""
    missing = {*get_args(Capacity)} - {type(option) for option in _OPTIONS}
    if missing:
        raise ValueError(f"no row for {missing}")
    services: tuple[Service, ...] = get_args(Service)
    rows = [
        (f"`{type(option).__name__}`", *(_received(option, service) for service in services)) for option in _OPTIONS
    ]
    header = ("class in `ultracluster.compute`", *(_SERVICES[service] for service in services))
    return page("Purchase options", _ABOUT, table(header, rows))


def _received(option: Capacity, service: Service) -> str:
    try:
        purchased = purchase(option, service)
    except ValueError:
        return "refused"
    words = []
    if purchased.setting is not None:
        field, value = purchased.setting
        words.append(field if value == _PLAN else value if isinstance(value, str) else next(iter(value)))
    words += [f"MarketType {purchased.market_type}"] if purchased.market_type else []
    words += ["id"] if purchased.reservation_id == _ID else []
    words += ["group"] if purchased.reservation_group == _GROUP else []
    words += [f"preference {purchased.preference}"] if purchased.preference else []
    return ", ".join(words) or "nothing"
