"""The role of a node."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

# What Session Manager needs, and no more: AWS's own policy AmazonSSMManagedInstanceCore also lets a node read every
# parameter of the account. See
# https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html
# (read 2026-11-20).
SESSION_MANAGER_ACTIONS = (
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)


class NodeRole(Construct):
    """An IAM role for nodes, with its instance profile, that lets Session Manager in and grants nothing else.

    Args:
        path: IAM path of role and profile. AWS PCS knows its nodes by the path `/aws-pcs/`.
        account_wide_actions: Actions which take no resource (IAM offers `*` only), each with the AWS fact that says so.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        path: str = "/",
        account_wide_actions: dict[str, str] | None = None,
    ) -> None:
        super().__init__(scope, id)
        account_wide = account_wide_actions or {}
        self.role: iam.IRole = iam.Role(self, "Role", path=path, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.role.add_to_principal_policy(
            iam.PolicyStatement(
                sid="AccountWide", actions=sorted([*SESSION_MANAGER_ACTIONS, *account_wide]), resources=["*"]
            )
        )
        reasons = "; ".join(sorted(account_wide.values()))
        cdk.Validations.of(self.role).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="; ".join(
                    filter(None, ["Session Manager's actions have no resource-level permission", reasons])
                ),
            )
        )
        self.instance_profile: iam.IInstanceProfile = iam.InstanceProfile(
            self, "InstanceProfile", path=path, role=self.role
        )
