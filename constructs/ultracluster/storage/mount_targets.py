"""Mount targets of EFS and S3 Files: one in each zone."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2


def check_subnets(subnets: Sequence[ec2.ISubnet]) -> list[str]:
    """What is wrong with the subnets of mount targets; nothing when they are fine, or when nobody can tell yet.

    See: https://docs.aws.amazon.com/efs/latest/ug/limits.html (read 2026-11-21): one mount target in each zone.
    """
    if not subnets:
        return ["subnets must hold at least one subnet, got none: without a mount target nobody reaches the files"]
    zones = [one.availability_zone for one in subnets if not cdk.Token.is_unresolved(one.availability_zone)]
    twice = sorted({zone for zone in zones if zones.count(zone) > 1})
    return [f"a zone has one mount target, and several subnets are in {zone}; keep one of them" for zone in twice]


def target_id(subnet: ec2.ISubnet) -> str:
    """The id of the mount target in a subnet: by the subnet, so that another order or one more changes none."""
    return f"MountTarget{cdk.Names.node_unique_id(subnet.node)}"
