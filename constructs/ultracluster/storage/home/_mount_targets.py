"""Mount targets of EFS and S3 Files: one in each zone."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster.storage._checked import subnet_errors


def check_subnets(vpc: ec2.IVpc, subnets: Sequence[ec2.ISubnet]) -> list[str]:
    """Return the errors of the subnets of mount targets, as far as synthesis knows the zones and VPCs.

    See: https://docs.aws.amazon.com/efs/latest/ug/limits.html (read 2026-11-21): one mount target in each zone.
    """
    if not subnets:
        return ["subnets must hold at least one subnet, got none: without a mount target no client reaches the files"]
    zones = [subnet.availability_zone for subnet in subnets if not cdk.Token.is_unresolved(subnet.availability_zone)]
    twice = sorted({zone for zone in zones if zones.count(zone) > 1})
    return [
        *(f"a zone has one mount target, and several subnets are in {zone}; keep one of them" for zone in twice),
        *subnet_errors(vpc, **{f"subnets[{index}]": subnet for index, subnet in enumerate(subnets)}),
    ]


def target_id(subnet: ec2.ISubnet) -> str:
    """Return the id of the mount target in a subnet, which does not depend on the order of subnets."""
    return f"MountTarget{cdk.Names.node_unique_id(subnet.node)}"
