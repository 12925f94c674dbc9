"""Warnings about an existing home file system."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

#: Id of the warning about rules that its owner must add.
EXISTING_HOME_RULES = "ultracluster:existing-home-rules"
#: Id of the warning about properties that synthesis cannot read.
EXISTING_HOME_UNSEEN = "ultracluster:existing-home-unseen"


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
    validations = cdk.Validations.of(scope)
    if security_group is None:
        validations.add_warning(
            EXISTING_HOME_RULES,
            f"the security group of {file_system_id} is not known: allow tcp 2049 from the security group of the "
            "nodes, or pass security_group",
        )
    validations.add_warning(
        EXISTING_HOME_UNSEEN,
        f"synthesis cannot read {file_system_id}: check that it is encrypted, backed up and retained, and {unseen}",
    )
