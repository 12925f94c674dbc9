"""IAM role of a node."""

import re
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.planning import checked, text_problem
from ultracluster.rules import Refusal

# What Session Manager needs, and no more: AWS's own policy AmazonSSMManagedInstanceCore also allows a node to read
# every parameter of the account. See
# https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html
# (read 2026-11-20).
SESSION_MANAGER_ACTIONS = (
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)


# https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html (read 2026-11-23)
_PATH = re.compile(r"/|/[\x21-\x7f]{1,510}/", re.ASCII)
_ACTION = re.compile(r"[a-z0-9-]+:[A-Za-z0-9*?]+", re.ASCII)


class NodeRole(iam.Role):
    """An IAM role for nodes with its instance profile; it allows Session Manager and nothing else.

    It is an `iam.Role`: hand it to every `grants` and wherever a role or an `IGrantable` is expected.

    Args:
        path: IAM path of role and profile. AWS PCS recognizes its nodes by the path `/aws-pcs/`.
        account_wide_actions: Actions without resource-level permission (IAM offers `*` only), each with the AWS fact
            that documents it.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        path: str = "/",
        account_wide_actions: Mapping[str, str] | None = None,
    ) -> None:
        account_wide = account_wide_actions or {}
        problems = list(text_problem("path", path, _PATH, "a path such as /team/"))
        for action in account_wide:
            problems += text_problem("account_wide_actions", action, _ACTION, "actions such as ec2:DescribeInstances")
        if problems:
            raise Refusal(f"{scope.node.path}/{id}", problems)
        super().__init__(scope, id, path=path, assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        self.add_to_principal_policy(
            iam.PolicyStatement(
                sid="AccountWide", actions=sorted([*SESSION_MANAGER_ACTIONS, *account_wide]), resources=["*"]
            )
        )
        reasons = ["Session Manager's actions have no resource-level permission", *sorted(account_wide.values())]
        cdk.Validations.of(self).acknowledge(
            cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason="; ".join(reasons))
        )
        self.instance_profile: iam.IInstanceProfile = iam.InstanceProfile(self, "InstanceProfile", path=path, role=self)
