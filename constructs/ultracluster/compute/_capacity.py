"""Purchase options in a launch template."""

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2

from ultracluster.planning.capacity import Purchase

_Data = ec2.CfnLaunchTemplate


@dataclass(frozen=True, kw_only=True, slots=True)
class CapacityFields:
    """Market options and reservation of a launch template; a field with None is left out."""

    market_options: ec2.CfnLaunchTemplate.InstanceMarketOptionsProperty | None = None
    reservation: ec2.CfnLaunchTemplate.CapacityReservationSpecificationProperty | None = None


def launch_template_fields(purchased: Purchase) -> CapacityFields:
    """Return the launch template fields of a purchase; see `planning.capacity.purchase`.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html and
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-ec2-launchtemplate-capacityreservationspecification.html
    (read 2026-11-20)
    """
    market = purchased.market_type
    target = None
    if purchased.reservation_id or purchased.reservation_group:
        # A group's ARN stands inside the target too, whatever samples show.
        target = _Data.CapacityReservationTargetProperty(
            capacity_reservation_id=purchased.reservation_id,
            capacity_reservation_resource_group_arn=purchased.reservation_group,
        )
    return CapacityFields(
        market_options=_Data.InstanceMarketOptionsProperty(market_type=market) if market else None,
        reservation=_Data.CapacityReservationSpecificationProperty(
            capacity_reservation_preference=purchased.preference, capacity_reservation_target=target
        )
        if target or purchased.preference
        else None,
    )
