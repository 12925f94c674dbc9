"""The users of a cluster's nodes."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.planning import User, users_path


class NodeUsers(Construct):
    """Users in the Parameter Store, from where every node makes them; `planning.users_boot` is what a node does.

    A user who is added, changed or taken away replaces no node: nodes look every quarter of an hour.

    Args:
        cluster: Name of the cluster, whose users they are.
        users: The users.

    Raises:
        ValueError: When two have the same name or number.
    """

    def __init__(self, scope: Construct, id: str, *, cluster: str, users: Sequence[User]) -> None:
        super().__init__(scope, id)
        for what, values in (("name", [user.name for user in users]), ("uid", [user.uid for user in users])):
            if len(set(values)) < len(values):
                raise ValueError(f"{self.node.path}: every user has a {what} of their own, got {values}")
        self._path = users_path(cluster)
        for user in users:
            ssm.CfnParameter(
                self,
                user.name,
                type="String",
                name=f"{self._path}/{user.name}",
                description=f"User {user.name} of the cluster {cluster}",
                value=user.record,
            )

    def grant_read(self, role: iam.IRole) -> None:
        """Let a role of nodes read the users, and no other parameter."""
        arn = cdk.Stack.of(self).format_arn(service="ssm", resource="parameter", resource_name=self._path.lstrip("/"))
        role.add_to_principal_policy(iam.PolicyStatement(actions=["ssm:GetParametersByPath"], resources=[arn]))
