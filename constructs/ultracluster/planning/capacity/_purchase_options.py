"""Purchase options: one value each, with what holds for every service that launches nodes."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from ultracluster.catalogue.ec2 import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.planning import check_fields
from ultracluster.planning.capacity._reservation_ids import (
    check_group_arn,
    check_reservation_id,
    check_times,
    check_training_plan_arn,
    is_token,
)


class _Option:
    """Defaults of a purchase option."""

    __slots__ = ()

    instances: ClassVar[int | None] = None
    #: Text of the option, with its fields.
    _form: ClassVar[str]
    #: A placement group is created for this capacity by default.
    makes_placement_group: ClassVar[bool] = False
    #: EC2 accepts a placement group with this capacity.
    takes_placement_group: ClassVar[bool] = True

    @property
    def max_instances(self) -> int | None:
        """Most instances that it holds, or None if not known or not bounded."""
        return self.instances

    @property
    def word(self) -> str:
        """Text in tables, as in a cluster file."""
        return self._form.format(self)

    def __post_init__(self) -> None:
        """Check the fields."""
        check_fields(self)
        if problems := self._problems():
            raise ValueError("; ".join(problems))

    def _problems(self) -> list[str]:
        return []


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemand(_Option):
    """On-demand instances. They use matching open reservations, but only those in the same placement group, if any.

    Those that Karpenter launches use none.
    """

    _form: ClassVar[str] = "on-demand"
    makes_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot(_Option):
    """Spare capacity that EC2 may take back with two minutes' notice."""

    _form: ClassVar[str] = "spot"
    makes_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenReservation(_Option):
    """On-demand instances that use any matching open reservation.

    Args:
        placement_group: Placement group of the reservations, which match instances in it only. Default: none.
    """

    _form: ClassVar[str] = "{{reservation: open}}"

    placement_group: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _ById(_Option):
    """One reservation, named by its id."""

    reservation_id: str
    instances: int | None = None  # type: ignore[misc]  # a field, where other options have a default

    def _problems(self) -> list[str]:
        problems = [] if is_token(self.reservation_id) else check_reservation_id(self.reservation_id)
        if self.instances is not None and self.instances < 1:
            problems.append(f"instances must be at least 1, got {self.instances}")
        return problems + check_times(getattr(self, "starts", None), getattr(self, "ends", None))


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetedReservation(_ById):
    """An On-Demand Capacity Reservation (ODCR), targeted by its id.

    No placement group is created for it: reservations that AWS provides have none, and instances outside the placement
    group of a reservation do not match it. Name the group if the reservation has one.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: Number of instances in the reservation. Default: not known, so not checked.
        placement_group: Name of the placement group of the reservation. Default: none.
        starts: Start of a future-dated reservation, with a time zone. Default: it is active.
        ends: End of a reservation that expires, with a time zone. Its instances run on, at the on-demand price, and no
            other launches. Default: it has none, or it is not known.
        active: A future-dated reservation has started. Default: no; node groups of EKS have no nodes until then.

    Raises:
        ValueError: If the id is not valid, the number of instances is below 1, a time has no time zone, or the start
            is not before the end.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html (read 2026-11-20),
    capacity-reservations-create.html, "available for use only once" it is active, and EndDate of
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html (read 2026-11-27)
    """

    placement_group: str | None = None
    starts: datetime | None = None
    ends: datetime | None = None
    active: bool = False

    _form: ClassVar[str] = "{0.reservation_id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class InterruptibleReservation(_ById):
    """An interruptible Capacity Reservation: capacity that its owner, often another account, does not use.

    The owner reclaims it with two minutes' notice, and nothing replaces it.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: Number of instances in the reservation. Default: not known, so not checked.

    Raises:
        ValueError: If the id is not a valid id of a reservation, or the number of instances is below 1.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html (read 2026-11-21)
    """

    _form: ClassVar[str] = "{{reservation: {0.reservation_id}, kind: interruptible}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(_Option):
    """A resource group of On-Demand Capacity Reservations, by its ARN; instances beyond it are purchased on demand.

    Capacity Blocks in such a group are not used: instances find them only with a market type of their own, and are
    purchased on demand instead.

    Args:
        arn: `arn:aws:resource-groups:REGION:ACCOUNT:group/NAME`, or a token of the CDK.

    Raises:
        ValueError: If the ARN is not that of a resource group.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html (read 2026-11-20)
    """

    arn: str

    def _problems(self) -> list[str]:
        return [] if is_token(self.arn) else check_group_arn(self.arn)

    _form: ClassVar[str] = "{{group: {0.arn}}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block(_ById):
    """A Capacity Block, of instances or of an UltraServer. Both end, and neither takes a placement group."""

    takes_placement_group: ClassVar[bool] = False
    #: Time before the end at which its instances are terminated, or must be.
    last_call: ClassVar[timedelta]

    starts: datetime | None = None
    ends: datetime | None = None
    active: bool = False
    ended: bool = False

    @property
    def terminates_at(self) -> datetime | None:
        """Time at which EC2 terminates its instances, in UTC, or None if the end is not known."""
        return None if self.ends is None else self.ends.astimezone(UTC) - self.last_call


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(_Block):
    """An EC2 Capacity Block for ML: instances for a span of days, in an UltraCluster that EC2 chooses.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: Number of instances in the block, 1 to 64. Default: not known; then 64 is the bound.
        starts: Start, with a time zone. Default: not known; then nothing starts the nodes of EKS.
        ends: End, with a time zone. Default: not known; then nothing drains the nodes.
        active: The block has started, so that node groups of EKS start their nodes. Default: no; they have no nodes.
        ended: The block has ended, so that nothing starts its nodes. Default: no.

    Raises:
        ValueError: If the id is not a valid id of a reservation, no block holds that many instances, a time has no
            time zone, or the start is not before the end.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
    """

    # EC2 begins to terminate at 11:00 UTC what ends at 11:30 (same page).
    last_call: ClassVar[timedelta] = timedelta(minutes=30)

    def _problems(self) -> list[str]:
        problems = _ById._problems(self)
        if self.instances is not None and self.instances > INSTANCES_PER_CAPACITY_BLOCK:
            problems.append(
                f"a Capacity Block holds 1 to {INSTANCES_PER_CAPACITY_BLOCK} instances, got {self.instances}"
            )
        return problems

    _form: ClassVar[str] = "{{reservation: {0.reservation_id}, kind: capacity-block}}"

    @property
    def max_instances(self) -> int:
        """Most instances that it holds."""
        return self.instances or INSTANCES_PER_CAPACITY_BLOCK


@dataclass(frozen=True, kw_only=True, slots=True)
class UltraServerBlock(_Block):
    """A Capacity Block that holds one UltraServer, whole.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: Number of instances in the UltraServer: 9 or 18 of p6e-gb200. Default: not known.
        starts: Start, with a time zone. Default: not known; then nothing starts the nodes of EKS.
        ends: End, with a time zone. Default: not known; then nothing drains the nodes.
        active: The block has started, so that node groups of EKS start their nodes. Default: no; they have no nodes.
        ended: The block has ended, so that nothing starts its nodes. Default: no.

    Raises:
        ValueError: If the id is not a valid id of a reservation, instances is below 1, a time has no time
            zone, or the start is not before the end.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)
    """

    # "You must terminate your instances at least 60 minutes before the Capacity Block end time":
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-21)
    last_call: ClassVar[timedelta] = timedelta(minutes=60)

    _form: ClassVar[str] = "{{reservation: {0.reservation_id}, kind: ultraserver}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan(_Option):
    """A SageMaker training plan, which buys HyperPod instances and no EC2 ones.

    Args:
        arn: `arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME`, or a token of the CDK.
        starts: Start, with a time zone. Default: not known; then its nodes are expected at once.
        ends: End, with a time zone. Default: not known; then its nodes are expected for good.

    Raises:
        ValueError: If the ARN is not that of a plan, a time has no time zone, or the start is not before the end.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    (read 2026-11-20)
    """

    takes_placement_group: ClassVar[bool] = False

    # "You have full access to all reserved instances until 30 minutes before the Reserved Capacity end time":
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-training-jobs.html (read 2026-11-27)
    last_call: ClassVar[timedelta] = timedelta(minutes=30)

    arn: str
    starts: datetime | None = None
    ends: datetime | None = None

    def _problems(self) -> list[str]:
        problems = [] if is_token(self.arn) else check_training_plan_arn(self.arn)
        return problems + check_times(self.starts, self.ends)

    @property
    def terminates_at(self) -> datetime | None:
        """Time at which SageMaker terminates its instances, in UTC, or None if the end is not known."""
        return None if self.ends is None else self.ends.astimezone(UTC) - self.last_call

    _form: ClassVar[str] = "{{training-plan: {0.arn}}}"


#: Capacity Blocks, which end.
Block = CapacityBlock | UltraServerBlock
#: Options of one reservation.
Reserved = TargetedReservation | InterruptibleReservation | Block
#: Any purchase option.
Capacity = OnDemand | Spot | OpenReservation | Reserved | ReservationGroup | TrainingPlan
