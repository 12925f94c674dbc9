"""What each way of buying means in a launch template."""

from dataclasses import dataclass
from typing import assert_never

from aws_cdk import aws_ec2 as ec2

from ultracluster.planning import (
    Capacity,
    CapacityBlock,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)

_Data = ec2.CfnLaunchTemplate


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityFields:
    """The two fields of a launch template that say how an instance is bought. None: the field is left out."""

    market_options: ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None = None
    reservation: ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None = None


def launch_template_fields(capacity: Capacity) -> CapacityFields:
    """The launch-template fields of a way of buying.

    On-demand and Spot set neither: the service that launches (AWS PCS, EKS, an Auto Scaling group) has a setting of its
    own for Spot, and refuses a template that says it again.

    Raises:
        ValueError: For a SageMaker training plan, which buys HyperPod instances and no EC2 ones.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html and
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-ec2-launchtemplate-capacityreservationspecification.html
    (read 2026-11-20)
    """
    match capacity:
        case CapacityBlock() | UltraServerBlock():
            return CapacityFields(
                market_options=_Data.InstanceMarketOptionsProperty(market_type="capacity-block"),
                reservation=_target(
                    _Data.CapacityReservationTargetProperty(capacity_reservation_id=capacity.reservation_id)
                ),
            )
        case TargetedReservation():
            return CapacityFields(
                reservation=_target(
                    _Data.CapacityReservationTargetProperty(capacity_reservation_id=capacity.reservation_id)
                )
            )
        case ReservationGroup():
            return CapacityFields(
                reservation=_target(
                    _Data.CapacityReservationTargetProperty(capacity_reservation_resource_group_arn=capacity.arn)
                )
            )
        case OpenReservation():
            return CapacityFields(
                reservation=_Data.CapacityReservationSpecificationProperty(capacity_reservation_preference="open")
            )
        case TrainingPlan():
            raise ValueError(
                "a SageMaker training plan buys HyperPod instances and has no launch template; "
                "for EC2 instances use a Capacity Block: {reservation: cr-..., kind: capacity-block}"
            )
        case OnDemand() | Spot():
            return CapacityFields()
        case _:
            assert_never(capacity)


def _target(
    target: ec2.CfnLaunchTemplate.CapacityReservationTargetProperty,
) -> ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty:
    return _Data.CapacityReservationSpecificationProperty(capacity_reservation_target=target)
