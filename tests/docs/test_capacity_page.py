"""The table of docs/guides/capacity.md matches the library."""

from typing import get_args

from support import ROOT
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

ID = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/pool"
PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine"
OPTIONS: dict[str, Capacity] = {
    type(option).__name__: option
    for option in (
        OnDemand(),
        Spot(),
        OpenReservation(),
        TargetedReservation(reservation_id=ID),
        ReservationGroup(arn=GROUP),
        CapacityBlock(reservation_id=ID),
        UltraServerBlock(reservation_id=ID),
        InterruptibleReservation(reservation_id=ID),
        TrainingPlan(arn=PLAN),
    )
}


def shown(capacity: Capacity, service: Service) -> str:
    try:
        purchased = purchase(capacity, service)
    except ValueError:
        return "refused"
    words = []
    if purchased.setting is not None:
        field, value = purchased.setting
        words.append(field if value == PLAN else value if isinstance(value, str) else next(iter(value)))
    words += [f"MarketType {purchased.market_type}"] if purchased.market_type else []
    words += ["id"] if purchased.reservation_id == ID else []
    words += ["group"] if purchased.reservation_group == GROUP else []
    words += [f"preference {purchased.preference}"] if purchased.preference else []
    return ", ".join(words) or "nothing"


def test_the_table_has_every_purchase_option_and_the_values_of_each_service() -> None:
    page = (ROOT / "docs" / "guides" / "capacity.md").read_text()
    rows = [
        line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `") and line.count("|") == 6
    ]
    written = {row[0].strip("`"): row[1:] for row in rows if row[0].strip("`") in OPTIONS}
    services: tuple[Service, ...] = get_args(Service)
    assert written == {name: [shown(option, service) for service in services] for name, option in OPTIONS.items()}
    assert {type(option) for option in OPTIONS.values()} == set(get_args(Capacity))
