"""The users of a cluster's nodes."""

import hashlib
from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import User, user_lists, users_path
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import Directory
from ultracluster.planning import checked, checked_method, stack_of, text_problem
from ultracluster.rules import Refusal, error

_TWICE = error("node-users", "Files belong to numbers: two users with one name or number share their files.")

# Parameters that CloudFormation creates at the same time.
_AT_ONCE = 5


class NodeUsers(Construct):
    """Users in the Parameter Store, from which every node creates them; see `boot.users_boot`.

    Nodes read the users every 15 minutes, so that adding, changing or removing one replaces no node.

    Args:
        cluster: Name of the cluster.
        users: Users of its nodes.

    Raises:
        Refusal: If `cluster` is not a name of a cluster, or two users have the same name or uid.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: str, users: Sequence[User]) -> None:
        super().__init__(scope, id)
        # The name is a part of the path of the parameters.
        if problems := [*text_problem("cluster", cluster, pcs.CLUSTER_NAME, "the name of a cluster")]:
            raise Refusal(self, problems)
        for field, values in (("name", [user.name for user in users]), ("uid", [user.uid for user in users])):
            if len(set(values)) < len(values):
                raise Refusal(self, _TWICE(f"every user must have a {field} of their own, got {values}"))
        self._path = users_path(cluster)
        parameters: list[ssm.CfnParameter] = []
        for records in user_lists(users):
            # Named by its content: an update creates all lists before it deletes one, so that no node misses a user.
            digest = hashlib.sha256(records.encode()).hexdigest()[:16]
            parameter = ssm.CfnParameter(
                self,
                digest,
                type="String",
                name=f"{self._path}/{digest}",
                description=f"Users of the cluster {cluster}",
                value=records,
            )
            # A hundred requests at once can exceed the rate of PutParameter, which rolls the stack back:
            # https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/573 (read 2026-11-26)
            if len(parameters) >= _AT_ONCE:
                parameter.add_dependency(parameters[-_AT_ONCE])
            parameters.append(parameter)

    @property
    def grants(self) -> "NodeUsersGrants":
        """Permissions on the users."""
        return NodeUsersGrants(self, self._path)


class NodeUsersGrants:
    """Permissions on users in the Parameter Store."""

    def __init__(self, scope: Construct, path: str) -> None:
        self._arn = stack_of(scope).format_arn(
            service="ssm", resource="parameter", resource_name=path.removeprefix("/")
        )

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read the users, and no other parameter."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["ssm:GetParametersByPath"], resource_arns=[self._arn]
        )


def allow_secret(grantee: iam.IGrantable, directory: Directory) -> None:
    """Allow nodes to read the password with which they search a directory, and nothing beside it."""
    iam.Grant.add_to_principal(
        grantee=grantee, actions=["secretsmanager:GetSecretValue"], resource_arns=[directory.secret]
    )
    if directory.key is not None:
        iam.Grant.add_to_principal(grantee=grantee, actions=["kms:Decrypt"], resource_arns=[directory.key])
