"""Settings of each service for each purchase option, or the reason why it cannot use it."""

from typing import Any, Literal, NamedTuple, assert_never

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning.capacity._purchase_options import (
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

#: Service that launches the nodes: AWS PCS, an EKS managed node group, an Auto Scaling group (or EC2), HyperPod.
Service = Literal["pcs", "eks-managed", "self-managed", "hyperpod"]

_BLOCK = "{reservation: cr-..., kind: capacity-block}"
_PLAN = "{training-plan: ARN}"


class Purchase(NamedTuple):
    """Settings of a service and of a launch template; a field with None is left out.

    Args:
        setting: The service's own field and its value: `PurchaseOption` of a PCS compute node group, `CapacityType` of
            an EKS managed node group, `CapacityRequirements` or `TrainingPlanArn` of a HyperPod instance group.
        market_type: Of the launch template: `InstanceMarketOptions.MarketType`.
        reservation_id: `CapacityReservationId` of the launch template's `CapacityReservationTarget`.
        reservation_group: `CapacityReservationResourceGroupArn` of the same target.
        preference: `CapacityReservationPreference` of the launch template.
    """

    setting: tuple[str, str | dict[str, Any]] | None = None
    market_type: Literal["spot", "capacity-block", "interruptible-capacity-reservation"] | None = None
    reservation_id: str | None = None
    reservation_group: str | None = None
    preference: Literal["open"] | None = None

    @property
    def fields(self) -> dict[str, str | dict[str, Any]]:
        """Every field that is set, by its name in CloudFormation."""
        reservation = "CapacityReservationSpecification"
        named = {
            "InstanceMarketOptions.MarketType": self.market_type,
            f"{reservation}.CapacityReservationTarget.CapacityReservationId": self.reservation_id,
            f"{reservation}.CapacityReservationTarget.CapacityReservationResourceGroupArn": self.reservation_group,
            f"{reservation}.CapacityReservationPreference": self.preference,
        }
        return dict(filter(None, [self.setting])) | {name: value for name, value in named.items() if value}


def purchase(capacity: Capacity, service: Service) -> Purchase:
    """Return the settings with which a service launches nodes of a purchase option.

    Raises:
        ValueError: If the service cannot; with the reason, and the nearest option that works.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html,
    https://docs.aws.amazon.com/pcs/latest/userguide/capacity-reservations-iodcr.html,
    https://docs.aws.amazon.com/eks/latest/userguide/ml-node-groups.html,
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/target-capacity-reservations.html,
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-sagemaker-cluster-clusterinstancegroup.html
    (read 2026-11-21)
    """
    if service not in _NAMES:
        raise ValueError(f"service must be one of {', '.join(_NAMES)}, got {service!r}")
    if service == "hyperpod":
        return _hyperpod(capacity)
    market = _market(capacity, service)
    setting = _setting(service, market)
    match capacity:
        case CapacityBlock() | UltraServerBlock() | InterruptibleReservation():
            return Purchase(setting=setting, market_type=market, reservation_id=capacity.reservation_id)
        case TargetedReservation():
            return Purchase(setting=setting, reservation_id=capacity.reservation_id)
        case ReservationGroup():
            return Purchase(setting=setting, reservation_group=capacity.arn)
        case OpenReservation():
            return Purchase(setting=setting, preference="open")
        case Spot():
            # PCS and EKS request Spot themselves, and refuse a template that does too.
            return Purchase(setting=setting, market_type=market if service == "self-managed" else None)
        case OnDemand():
            return Purchase(setting=setting)
        case TrainingPlan():
            raise ValueError(
                f"a training plan is for HyperPod instances, and {_NAMES[service]} launches EC2 ones; for those "
                f"purchase a "
                "Capacity Block: {reservation: cr-..., kind: capacity-block | ultraserver}"
            )
        case _:
            assert_never(capacity)


def check_sold(record: InstanceType, capacity: Capacity, service: Service | None = None) -> list[str]:
    """Return reasons why a type is not sold with a purchase option; empty if it is.

    Args:
        record: The type.
        capacity: The purchase option.
        service: Service that launches the nodes. By default, one that launches EC2 instances.
    """
    if isinstance(capacity, TrainingPlan) or (isinstance(capacity, ReservationGroup) and not record.ultraservers):
        return []  # What is in there is not known here.
    if record.ultraservers and not isinstance(capacity, UltraServerBlock):
        option = _PLAN if service == "hyperpod" else "{reservation: cr-..., kind: ultraserver}"
        return [f"{record.name} is available in UltraServers only; write {option}"]
    if isinstance(capacity, UltraServerBlock):
        sizes = sorted({server.instances for server in record.ultraservers})
        if not sizes:
            return [f"{record.name} is in no UltraServer; for a Capacity Block write {_BLOCK}"]
        if capacity.instances is not None and capacity.instances not in sizes:
            return [f"an UltraServer has {' or '.join(map(str, sizes))} instances, got {capacity.instances}"]
        return []
    way, verb = {
        CapacityBlock: ("capacity-block", "in Capacity Blocks"),
        Spot: ("spot", "on the Spot market"),
    }.get(type(capacity), ("on-demand", "on demand"))
    if way in record.purchase:
        return []
    words = {"on-demand": "on-demand", "spot": "spot", "capacity-block": "in Capacity Blocks"}
    return [
        f"{record.name} is not available {verb}; it is available {' or '.join(words[way] for way in record.purchase)}"
    ]


_Market = Literal["spot", "capacity-block", "interruptible-capacity-reservation"]
_NAMES: dict[Service, str] = {
    "pcs": "AWS PCS",
    "eks-managed": "an EKS managed node group",
    "self-managed": "an Auto Scaling group",
    "hyperpod": "HyperPod",
}
# https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateComputeNodeGroup.html and
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html (read 2026-11-20). EKS has no
# capacity type for interruptible reservations.
_SETTINGS: dict[Service, tuple[str, dict[_Market | None, str]]] = {
    "pcs": (
        "PurchaseOption",
        {
            None: "ONDEMAND",
            "spot": "SPOT",
            "capacity-block": "CAPACITY_BLOCK",
            "interruptible-capacity-reservation": "INTERRUPTIBLE_CAPACITY_RESERVATION",
        },
    ),
    "eks-managed": ("CapacityType", {None: "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}),
}


def _setting(service: Service, market: _Market | None) -> tuple[str, str | dict[str, Any]] | None:
    if service not in _SETTINGS:
        return None
    field, values = _SETTINGS[service]
    return field, values[market]


def _market(capacity: Capacity, service: Service) -> _Market | None:
    match capacity:
        case Spot():
            return "spot"
        case CapacityBlock() | UltraServerBlock():
            return "capacity-block"
        case InterruptibleReservation():
            if service == "eks-managed":
                raise ValueError(
                    "an EKS managed node group has no capacity type for an interruptible reservation; launch the nodes "
                    "by an Auto Scaling group (self-managed nodes), which supports it"
                )
            return "interruptible-capacity-reservation"
        case _:
            return None


def _hyperpod(capacity: Capacity) -> Purchase:
    match capacity:
        case TrainingPlan():
            return Purchase(setting=("TrainingPlanArn", capacity.arn))
        case OnDemand():
            return Purchase(setting=("CapacityRequirements", {"OnDemand": {}}))
        case Spot():
            return Purchase(setting=("CapacityRequirements", {"Spot": {}}))
        case _:
            raise ValueError(
                "HyperPod launches instances of SageMaker, which reservations and Capacity Blocks of EC2 can't hold; "
                f"purchase a training plan: {_PLAN}"
            )
