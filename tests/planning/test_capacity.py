import dataclasses
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest

from ultracluster.planning.capacity import (
    Capacity,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)

ID = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/pool"
PLAN = "arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine"
EVERY: list[Capacity] = [
    OnDemand(),
    Spot(),
    TargetedReservation(reservation_id=ID),
    OpenReservation(),
    InterruptibleReservation(reservation_id=ID),
    ReservationGroup(arn=GROUP),
    CapacityBlock(reservation_id=ID),
    UltraServerBlock(reservation_id=ID),
    TrainingPlan(arn=PLAN),
]


def test_every_way_of_buying_is_tried_here() -> None:
    assert {type(capacity) for capacity in EVERY} == set(get_args(Capacity))


@pytest.mark.parametrize("capacity", EVERY, ids=lambda c: type(c).__name__)
def test_only_unplaced_capacity_creates_a_placement_group(capacity: Capacity) -> None:
    assert capacity.makes_placement_group == isinstance(capacity, OnDemand | Spot)


@pytest.mark.parametrize("capacity", EVERY, ids=lambda c: type(c).__name__)
def test_ec2_takes_no_placement_group_beside_what_it_places_itself(capacity: Capacity) -> None:
    placed_by_aws = isinstance(capacity, CapacityBlock | UltraServerBlock | TrainingPlan)
    assert capacity.takes_placement_group != placed_by_aws


def test_a_capacity_reads_as_it_is_written_in_a_file() -> None:
    assert [capacity.word for capacity in EVERY] == [
        "on-demand",
        "spot",
        ID,
        "{reservation: open}",
        f"{{reservation: {ID}, kind: interruptible}}",
        f"{{group: {GROUP}}}",
        f"{{reservation: {ID}, kind: capacity-block}}",
        f"{{reservation: {ID}, kind: ultraserver}}",
        f"{{training-plan: {PLAN}}}",
    ]


def test_a_block_of_unknown_size_is_bounded_by_the_largest_there_is() -> None:
    assert CapacityBlock(reservation_id=ID).max_instances == 64
    assert UltraServerBlock(reservation_id=ID).max_instances is None
    assert TargetedReservation(reservation_id=ID).max_instances is None


def test_a_block_of_known_size_holds_just_that() -> None:
    assert CapacityBlock(reservation_id=ID, instances=16).max_instances == 16
    assert UltraServerBlock(reservation_id=ID, instances=9).max_instances == 9
    assert TargetedReservation(reservation_id=ID, instances=500).max_instances == 500


@pytest.mark.parametrize("capacity", EVERY, ids=lambda c: type(c).__name__)
def test_a_capacity_never_changes(capacity: Capacity) -> None:
    assert capacity in {capacity}
    for field in dataclasses.fields(capacity):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(capacity, field.name, "other")


@pytest.mark.parametrize(
    "id",
    [
        "",
        "cr-",
        "cr-0123456789abcdef",
        "cr-0123456789abcdef01",
        "CR-0123456789abcdef0",
        "cr-0123456789ABCDEF0",
        "cr-0123456789abcdefg",
        "r-0123456789abcdef0",
        # Digits, but not of this script.
        "cr-" + "\u0661" * 17,
        f"{ID}\n",
        f" {ID}",
    ],
)
@pytest.mark.parametrize("kind", [TargetedReservation, CapacityBlock, UltraServerBlock])
def test_rejects_what_is_no_id_of_a_reservation(kind: type[CapacityBlock], id: str) -> None:
    with pytest.raises(ValueError, match="17 hexadecimal digits"):
        kind(reservation_id=id)


@pytest.mark.parametrize("arn", ["", "pool", PLAN, GROUP + " ", GROUP.replace("123456789012", "12"), "arn:aws:x"])
def test_rejects_what_is_no_arn_of_a_group(arn: str) -> None:
    with pytest.raises(ValueError, match="arn:aws:resource-groups:REGION:ACCOUNT:group/NAME"):
        ReservationGroup(arn=arn)


@pytest.mark.parametrize("arn", ["", "mine", GROUP, PLAN + "\n", "arn:aws:sagemaker:us-east-2::training-plan/x"])
def test_rejects_what_is_no_arn_of_a_training_plan(arn: str) -> None:
    with pytest.raises(ValueError, match="arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME"):
        TrainingPlan(arn=arn)


def test_groups_of_every_partition_and_with_an_id_are_groups() -> None:
    for arn in (
        GROUP.replace("aws:", "aws-us-gov:").replace("us-east-2", "us-gov-west-1"),
        GROUP + "/0123456789abcdef",
    ):
        assert ReservationGroup(arn=arn).arn == arn


@pytest.mark.parametrize(
    ("instances", "why"), [(0, "at least 1"), (-1, "at least 1"), (65, "1 to 64 instances"), (10**9, "1 to 64")]
)
def test_rejects_a_capacity_block_of_a_size_that_is_not_sold(instances: int, why: str) -> None:
    with pytest.raises(ValueError, match=f"{why}.*, got {instances}"):
        CapacityBlock(reservation_id=ID, instances=instances)


def test_rejects_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(ValueError, match=r"hexadecimal.*; instances must be at least 1, got 0; ends must have a time"):
        CapacityBlock(reservation_id="cr-1", instances=0, ends=datetime(2026, 12, 24, 11, 30))
    with pytest.raises(ValueError, match="instances must be at least 1, got 0"):
        TargetedReservation(reservation_id=ID, instances=0)


def test_ec2_terminates_the_nodes_of_a_block_before_it_ends_and_those_of_an_ultraserver_are_yours_to_terminate() -> (
    None
):
    end = datetime(2026, 12, 24, 12, 30, tzinfo=timezone(timedelta(hours=1)))
    block, ultraserver = CapacityBlock(reservation_id=ID, ends=end), UltraServerBlock(reservation_id=ID, ends=end)
    assert block.terminates_at == datetime(2026, 12, 24, 11, 0, tzinfo=UTC)
    assert ultraserver.terminates_at == datetime(2026, 12, 24, 10, 30, tzinfo=UTC)
    assert CapacityBlock(reservation_id=ID).terminates_at is None


def test_an_id_that_only_a_deployment_knows_is_taken_as_it_is() -> None:
    token = "${Token[Reservation.Id.42]}"
    assert TargetedReservation(reservation_id=token).reservation_id == token
    with pytest.raises(ValueError, match="hexadecimal"):
        TargetedReservation(reservation_id="${Reservation}")
