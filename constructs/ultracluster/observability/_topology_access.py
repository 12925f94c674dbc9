"""Access to the topology of instances in EC2."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html (read 2026-11-23)
_ACTION = "ec2:DescribeInstanceTopology"


def allow_topology(role: iam.IRole) -> None:
    """Allow a role to read the network nodes of instances, which the collectors of a node write as labels."""
    iam.Grant.add_to_principal(grantee=role, actions=[_ACTION], resource_arns=["*"])
    cdk.Validations.of(role).acknowledge(
        cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason=f"{_ACTION} has no resource-level permission")
    )
