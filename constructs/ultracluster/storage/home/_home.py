"""Mount targets of home file systems, and warnings about an existing one."""

from collections.abc import Callable, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network import check_same_vpc
from ultracluster.planning import known
from ultracluster.rules import Message, error, warning
from ultracluster.security import readable

_MOUNT_TARGETS = error("home-mount-targets", "EFS and S3 Files have one mount target in each zone.")
_RULES = warning("existing-home-rules", "The security group of an existing home file system is not known.")
_UNSEEN = warning("existing-home-unseen", "Synthesis cannot read the properties of an existing home file system.")


def check_mount_targets(vpc: ec2.IVpc, subnets: Sequence[ec2.ISubnet]) -> list[Message]:
    """Return the errors of the subnets of mount targets, as far as zones and VPCs are known at synthesis.

    See: https://docs.aws.amazon.com/efs/latest/ug/limits.html (read 2026-11-21): one mount target in each zone.
    """
    if not subnets:
        text = "subnets must hold at least one subnet, got none: without a mount target no client reaches the files"
        return [_MOUNT_TARGETS(text)]
    zones = [zone for subnet in subnets if (zone := _zone(subnet))]
    twice = sorted({zone for zone in zones if zones.count(zone) > 1})
    texts = [f"a zone has one mount target, and several subnets are in {zone}; keep one of them" for zone in twice]
    indexed = {f"subnets[{index}]": subnet for index, subnet in enumerate(subnets)}
    return [*map(_MOUNT_TARGETS, texts), *check_same_vpc({"vpc": vpc, **indexed})]


def _zone(subnet: ec2.ISubnet) -> str | None:
    """Return the zone of a subnet, or None if it is not known at synthesis."""
    try:
        zone = subnet.availability_zone
    except RuntimeError:
        # The CDK raises for a subnet that is imported by its id.
        return None
    return zone if known(zone) else None


def create_mount_targets(
    scope: Construct,
    create: Callable[..., object],
    file_system_id: str,
    subnets: Sequence[ec2.ISubnet],
    group: ec2.ISecurityGroup,
) -> None:
    """Create a mount target in each subnet. Its id does not depend on the order of subnets.

    Args:
        scope: The file system.
        create: Constructor of the L1.
        file_system_id: Id of the file system.
        subnets: The subnets.
        group: Security group of the mount targets.
    """
    for subnet in subnets:
        create(
            scope,
            f"MountTarget{cdk.Names.node_unique_id(subnet.node)}",
            file_system_id=file_system_id,
            subnet_id=subnet.subnet_id,
            security_groups=[group.security_group_id],
        )


def warn_of_import(
    scope: Construct, file_system_id: str, security_group: ec2.ISecurityGroup | None, unseen: str
) -> None:
    """Add the warnings about an existing file system.

    Args:
        scope: The imported construct.
        file_system_id: Id of the file system.
        security_group: Its security group, or None if its owner adds the rules.
        unseen: Requirement that synthesis cannot check.
    """
    validations, shown_id = cdk.Validations.of(scope), readable(scope, file_system_id)
    if security_group is None:
        validations.add_warning(
            _RULES.warning_id,
            f"the security group of {shown_id} is not known: allow tcp 2049 from the security group of the "
            "nodes, or pass security_group",
        )
    validations.add_warning(
        _UNSEEN.warning_id,
        f"synthesis cannot read {shown_id}: check that it is encrypted, backed up and retained, and {unseen}",
    )
