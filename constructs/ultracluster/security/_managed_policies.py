"""AWS managed policies that a service requires by name."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam


def add_managed_policy(role: iam.Role, name: str, reason: str) -> None:
    """Attach an AWS managed policy, and acknowledge the cdk-nag finding.

    Args:
        role: The role.
        name: Name of the policy, such as `AmazonEKSClusterPolicy`.
        reason: Why this policy is necessary.
    """
    role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(name))
    cdk.Validations.of(role).acknowledge(
        cdk.Acknowledgment(
            id=f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]",
            reason=reason,
        )
    )
