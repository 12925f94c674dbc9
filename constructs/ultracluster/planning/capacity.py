"""How nodes are bought: one value for each way, with what is true of it whoever launches them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from ultracluster.hardware.quotas import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.planning.reservation_ids import (
    check_group_arn,
    check_reservation_id,
    check_training_plan_arn,
    is_token,
)


class _Bought:
    """What is true of a way of buying that does not say otherwise."""

    __slots__ = ()

    #: Whether a placement group of ours helps: made beside this capacity unless the user says no.
    makes_placement_group: ClassVar[bool] = False
    #: Whether EC2 takes a placement group that the user hands in.
    takes_placement_group: ClassVar[bool] = True

    @property
    def max_instances(self) -> int | None:
        """How many instances it can hold; None: not known, or without bound."""
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemand(_Bought):
    """Bought as they start. EC2 uses open reservations that match; one in no placement group matches none in ours."""

    word: ClassVar[str] = "on-demand"
    makes_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot(_Bought):
    """Spare capacity that EC2 may take back with two minutes' notice."""

    word: ClassVar[str] = "spot"
    makes_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenReservation(_Bought):
    """On-demand instances that say outright that they use any open reservation that matches.

    Args:
        placement_group: Name of the placement group that the reservations were made in: they match instances in it
            only. Default: they were made in none.
    """

    word: ClassVar[str] = "{reservation: open}"

    placement_group: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _ById(_Bought):
    """One reservation, named by its id."""

    reservation_id: str
    instances: int | None = None

    def __post_init__(self) -> None:
        """Check the shape."""
        if problems := self._problems():
            raise ValueError("; ".join(problems))

    def _problems(self) -> list[str]:
        problems = [] if is_token(self.reservation_id) else check_reservation_id(self.reservation_id)
        if self.instances is not None and self.instances < 1:
            problems.append(f"instances must be at least 1, got {self.instances}")
        return problems

    @property
    def max_instances(self) -> int | None:
        """How many instances it can hold; None: not known."""
        return self.instances


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetedReservation(_ById):
    """An On-Demand Capacity Reservation (ODCR), targeted by its id.

    A placement group of ours would not be the reservation's: reservations that AWS provides have none, and instances
    outside a reservation's own group do not match it. A reservation that was made in a group says so here.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: How many instances the reservation holds. Default: not known, so not checked.
        placement_group: Name of the placement group that the reservation was made in. Default: it was made in none.

    Raises:
        ValueError: When the id is no id of a reservation, or the number of instances is below 1.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html (read 2026-11-20)
    """

    placement_group: str | None = None

    @property
    def word(self) -> str:
        """How a table shows it."""
        return self.reservation_id


@dataclass(frozen=True, kw_only=True, slots=True)
class InterruptibleReservation(_ById):
    """An interruptible Capacity Reservation: what its owner, often another account, does not use just now.

    Its owner takes it back with two minutes' notice, and nothing is bought in its place.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: How many instances the reservation holds. Default: not known, so not checked.

    Raises:
        ValueError: When the id is no id of a reservation, or the number of instances is below 1.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html (read 2026-11-21)
    """

    @property
    def word(self) -> str:
        """How a table shows it."""
        return f"{{reservation: {self.reservation_id}, kind: interruptible}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup(_Bought):
    """A resource group of On-Demand Capacity Reservations, targeted by its ARN; what it can't hold is bought on demand.

    Capacity Blocks in such a group are not used: instances find them only with a market type of their own, and are
    bought on demand instead.

    Args:
        arn: `arn:aws:resource-groups:REGION:ACCOUNT:group/NAME`, or a token of the CDK.

    Raises:
        ValueError: When the ARN is not that of a resource group.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html (read 2026-11-20)
    """

    arn: str

    def __post_init__(self) -> None:
        """Check the shape."""
        if not is_token(self.arn) and (problems := check_group_arn(self.arn)):
            raise ValueError(problems[0])

    @property
    def word(self) -> str:
        """How a table shows it."""
        return f"{{group: {self.arn}}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Block(_ById):
    """A Capacity Block, of instances or of an UltraServer. Both end, and neither takes a placement group."""

    takes_placement_group: ClassVar[bool] = False
    #: How long before the end its instances are terminated, or must be.
    last_call: ClassVar[timedelta]

    ends: datetime | None = None
    active: bool = False

    def _problems(self) -> list[str]:
        problems = _ById._problems(self)
        if self.ends is not None and self.ends.tzinfo is None:
            problems.append(f"ends must have a time zone, got {self.ends.isoformat()}")
        return problems

    @property
    def terminates_at(self) -> datetime | None:
        """When its instances are terminated, in UTC; None: the end is not known."""
        return None if self.ends is None else self.ends.astimezone(UTC) - self.last_call


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock(_Block):
    """An EC2 Capacity Block for ML: instances for a span of days, in an UltraCluster that EC2 chooses.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: How many instances the block holds, 1 to 64. Default: not known; then 64 is the bound.
        ends: When it ends, with a time zone. Default: not known; then nothing drains the nodes.
        active: It has begun: node groups of EKS, which would wait at zero, have their nodes. Default: not yet.

    Raises:
        ValueError: When the id is no id of a reservation, no block holds that many instances, or the end has no time
            zone.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
    """

    # EC2 begins to terminate at 11:00 UTC what ends at 11:30 (same page).
    last_call: ClassVar[timedelta] = timedelta(minutes=30)

    def _problems(self) -> list[str]:
        problems = _Block._problems(self)
        if self.instances is not None and self.instances > INSTANCES_PER_CAPACITY_BLOCK:
            problems.append(
                f"a Capacity Block holds 1 to {INSTANCES_PER_CAPACITY_BLOCK} instances, got {self.instances}"
            )
        return problems

    @property
    def word(self) -> str:
        """How a table shows it."""
        return f"{{reservation: {self.reservation_id}, kind: capacity-block}}"

    @property
    def max_instances(self) -> int:
        """How many instances it can hold."""
        return self.instances or INSTANCES_PER_CAPACITY_BLOCK


@dataclass(frozen=True, kw_only=True, slots=True)
class UltraServerBlock(_Block):
    """A Capacity Block that holds one UltraServer, whole.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits, or a token of the CDK.
        instances: How many instances the UltraServer has: 9 or 18 of p6e-gb200. Default: not known.
        ends: When it ends, with a time zone. Default: not known; then nothing drains the nodes.
        active: It has begun: node groups of EKS, which would wait at zero, have their nodes. Default: not yet.

    Raises:
        ValueError: When the id is no id of a reservation, instances is below 1, or the end has no time zone.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)
    """

    # "You must terminate your instances at least 60 minutes before the Capacity Block end time":
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-21)
    last_call: ClassVar[timedelta] = timedelta(minutes=60)

    @property
    def word(self) -> str:
        """How a table shows it."""
        return f"{{reservation: {self.reservation_id}, kind: ultraserver}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan(_Bought):
    """A SageMaker training plan, which buys HyperPod instances and no EC2 ones.

    Args:
        arn: `arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME`, or a token of the CDK.

    Raises:
        ValueError: When the ARN is not that of a training plan.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    (read 2026-11-20)
    """

    takes_placement_group: ClassVar[bool] = False

    arn: str

    def __post_init__(self) -> None:
        """Check the shape."""
        if not is_token(self.arn) and (problems := check_training_plan_arn(self.arn)):
            raise ValueError(problems[0])

    @property
    def word(self) -> str:
        """How a table shows it."""
        return f"{{training-plan: {self.arn}}}"


#: Capacity Blocks, which end.
Block = CapacityBlock | UltraServerBlock
#: The ways that are bound to one reservation.
Reserved = TargetedReservation | InterruptibleReservation | Block
Capacity = OnDemand | Spot | OpenReservation | Reserved | ReservationGroup | TrainingPlan
