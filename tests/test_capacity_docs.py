"""The table of docs/capacity.md says what the library does."""

from typing import get_args

from conftest import ROOT
from ultracluster.planning import (
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
WAYS: dict[str, Capacity] = {
    type(way).__name__: way
    for way in (
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
        told = purchase(capacity, service)
    except ValueError:
        return "refused"
    words = []
    if told.setting is not None:
        field, value = told.setting
        words.append(field if value == PLAN else value if isinstance(value, str) else next(iter(value)))
    words += [f"MarketType {told.market_type}"] if told.market_type else []
    words += ["id"] if told.reservation_id == ID else []
    words += ["group"] if told.reservation_group == GROUP else []
    words += [f"preference {told.preference}"] if told.preference else []
    return ", ".join(words) or "nothing"


def test_every_way_of_buying_is_in_the_table_with_what_each_service_is_told() -> None:
    page = (ROOT / "docs" / "capacity.md").read_text()
    rows = [
        line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `") and line.count("|") == 6
    ]
    written = {row[0].strip("`"): row[1:] for row in rows if row[0].strip("`") in WAYS}
    services: tuple[Service, ...] = get_args(Service)
    assert written == {name: [shown(way, service) for service in services] for name, way in WAYS.items()}
    assert {type(way) for way in WAYS.values()} == set(get_args(Capacity))
