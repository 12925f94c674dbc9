"""What each way of buying means in a launch template."""

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2

from ultracluster.planning import Purchase

_Data = ec2.CfnLaunchTemplate


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityFields:
    """The two fields of a launch template that say how an instance is bought. None: the field is left out."""

    market_options: ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None = None
    reservation: ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None = None


def launch_template_fields(bought: Purchase) -> CapacityFields:
    """The launch-template fields of what a service is told; see `planning.purchase`.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html and
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-ec2-launchtemplate-capacityreservationspecification.html
    (read 2026-11-20)
    """
    market = bought.market_type
    target = None
    if bought.reservation_id or bought.reservation_group:
        # A group's ARN stands inside the target too, whatever samples show.
        target = _Data.CapacityReservationTargetProperty(
            capacity_reservation_id=bought.reservation_id,
            capacity_reservation_resource_group_arn=bought.reservation_group,
        )
    return CapacityFields(
        market_options=_Data.InstanceMarketOptionsProperty(market_type=market) if market else None,
        reservation=_Data.CapacityReservationSpecificationProperty(
            capacity_reservation_preference=bought.preference, capacity_reservation_target=target
        )
        if target or bought.preference
        else None,
    )
