"""How nodes are bought: one value for each way, with what is true of it whoever launches them."""

import re
from dataclasses import dataclass
from typing import ClassVar

from ultracluster.hardware.quotas import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.hardware.ultraservers import ULTRASERVERS

#: Instances of an UltraServer, which is bought whole: one Capacity Block holds one.
ULTRASERVER_INSTANCES = tuple(sorted({server.instances for server in ULTRASERVERS.values()}))

_RESERVATION_ID = re.compile(r"cr-[0-9a-f]{17}")
_GROUP_ARN = re.compile(
    r"arn:aws[a-z-]*:resource-groups:[a-z]{2}(-[a-z]+)+-\d:\d{12}:group/[\w.-]+(/[\w-]+)?", re.ASCII
)
_PLAN_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:[a-z]{2}(-[a-z]+)+-\d:\d{12}:training-plan/[\w.-]+", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDemand:
    """Bought as they start; EC2 uses open reservations that match."""

    word: ClassVar[str] = "on-demand"
    max_instances: ClassVar[int | None] = None
    #: Whether a placement group of ours helps: made beside this capacity unless the user says no.
    placement_group_allowed: ClassVar[bool] = True
    #: Whether EC2 takes a placement group that the user hands in.
    takes_given_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """Spare capacity that EC2 may take back with two minutes' notice."""

    word: ClassVar[str] = "spot"
    max_instances: ClassVar[int | None] = None
    placement_group_allowed: ClassVar[bool] = True
    takes_given_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetedReservation:
    """An On-Demand Capacity Reservation (ODCR), targeted by its id.

    A placement group of ours would not be the reservation's: reservations that AWS provides have none, and
    instances outside a reservation's own group do not match it. The reservation's own can be handed in.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits.
        instances: How many instances the reservation holds. Default: not known, so not checked.

    Raises:
        ValueError: When the id is no id of a reservation, or the number of instances is below 1.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html (read 2026-11-20)
    """

    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = True

    reservation_id: str
    instances: int | None = None

    def __post_init__(self) -> None:
        """Check the shape."""
        problems = check_reservation_id(self.reservation_id)
        if self.instances is not None and self.instances < 1:
            problems.append(f"instances must be at least 1, got {self.instances}")
        _refuse(problems)

    @property
    def word(self) -> str:
        """How it reads in a cluster file."""
        return self.reservation_id

    @property
    def max_instances(self) -> int | None:
        """How many instances it can hold; None: not known."""
        return self.instances


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenReservation:
    """On-demand instances that say outright that they use any open reservation that matches."""

    word: ClassVar[str] = "open reservations"
    max_instances: ClassVar[int | None] = None
    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ReservationGroup:
    """A resource group of reservations, targeted by its ARN.

    Args:
        arn: `arn:aws:resource-groups:REGION:ACCOUNT:group/NAME`.

    Raises:
        ValueError: When the ARN is not that of a resource group.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html (read 2026-11-20)
    """

    max_instances: ClassVar[int | None] = None
    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = True

    arn: str

    def __post_init__(self) -> None:
        """Check the shape."""
        _refuse(check_group_arn(self.arn))

    @property
    def word(self) -> str:
        """How it reads in a cluster file."""
        return f"{{group: {self.arn}}}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityBlock:
    """An EC2 Capacity Block for ML: instances for a span of days, in an UltraCluster that EC2 chooses.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits.
        instances: How many instances the block holds, 1 to 64. Default: not known; then 64 is the bound.

    Raises:
        ValueError: When the id is no id of a reservation, or no block holds that many instances.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
    """

    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = False

    reservation_id: str
    instances: int | None = None

    def __post_init__(self) -> None:
        """Check the shape."""
        problems = check_reservation_id(self.reservation_id)
        if self.instances is not None and not 1 <= self.instances <= INSTANCES_PER_CAPACITY_BLOCK:
            problems.append(
                f"a Capacity Block holds 1 to {INSTANCES_PER_CAPACITY_BLOCK} instances, got {self.instances}"
            )
        _refuse(problems)

    @property
    def word(self) -> str:
        """How it reads in a cluster file."""
        return f"{{reservation: {self.reservation_id}, kind: capacity-block}}"

    @property
    def max_instances(self) -> int:
        """How many instances it can hold."""
        return self.instances or INSTANCES_PER_CAPACITY_BLOCK


@dataclass(frozen=True, kw_only=True, slots=True)
class UltraServerBlock:
    """A Capacity Block that holds one UltraServer, whole.

    Args:
        reservation_id: `cr-` and 17 hexadecimal digits.
        instances: How many instances the UltraServer has, 9 or 18. Default: not known; then 18 is the bound.

    Raises:
        ValueError: When the id is no id of a reservation, or no UltraServer has that many instances.

    See: https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)
    """

    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = False

    reservation_id: str
    instances: int | None = None

    def __post_init__(self) -> None:
        """Check the shape."""
        problems = check_reservation_id(self.reservation_id)
        if self.instances is not None and self.instances not in ULTRASERVER_INSTANCES:
            problems.append(
                f"an UltraServer has {' or '.join(map(str, ULTRASERVER_INSTANCES))} instances, got {self.instances}"
            )
        _refuse(problems)

    @property
    def word(self) -> str:
        """How it reads in a cluster file."""
        return f"{{reservation: {self.reservation_id}, kind: ultraserver}}"

    @property
    def max_instances(self) -> int:
        """How many instances it can hold."""
        return self.instances or max(ULTRASERVER_INSTANCES)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan:
    """A SageMaker training plan, which buys HyperPod instances and no EC2 ones.

    Args:
        arn: `arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME`.

    Raises:
        ValueError: When the ARN is not that of a training plan.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    (read 2026-11-20)
    """

    max_instances: ClassVar[int | None] = None
    placement_group_allowed: ClassVar[bool] = False
    takes_given_placement_group: ClassVar[bool] = False

    arn: str

    def __post_init__(self) -> None:
        """Check the shape."""
        _refuse(check_training_plan_arn(self.arn))

    @property
    def word(self) -> str:
        """How it reads in a cluster file."""
        return f"{{training-plan: {self.arn}}}"


Capacity = (
    OnDemand
    | Spot
    | TargetedReservation
    | OpenReservation
    | ReservationGroup
    | CapacityBlock
    | UltraServerBlock
    | TrainingPlan
)


def check_reservation_id(text: str) -> list[str]:
    """What is wrong with an id of a Capacity Reservation; nothing when it is right."""
    if _RESERVATION_ID.fullmatch(text):
        return []
    return [f"a reservation's id is cr- and 17 hexadecimal digits, as in cr-0123456789abcdef0, got {text[:80]!r}"]


def check_group_arn(text: str) -> list[str]:
    """What is wrong with the ARN of a group of reservations; nothing when it is right."""
    if _GROUP_ARN.fullmatch(text):
        return []
    return [
        "a group of reservations is a resource group: arn:aws:resource-groups:REGION:ACCOUNT:group/NAME, "
        f"got {text[:120]!r}"
    ]


def check_training_plan_arn(text: str) -> list[str]:
    """What is wrong with the ARN of a training plan; nothing when it is right."""
    if _PLAN_ARN.fullmatch(text):
        return []
    return [f"a training plan is arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME, got {text[:120]!r}"]


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ValueError("; ".join(problems))
