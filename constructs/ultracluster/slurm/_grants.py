"""Permissions on resources of AWS PCS and on the instances behind them.

See: https://docs.aws.amazon.com/service-authorization/latest/reference/list_pcs.html (read 2026-11-22)
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from ultracluster.planning import checked_method

#: Tag of the instances of a node group, with the id of the group; only AWS PCS can set it.
NODE_GROUP_TAG = "aws:pcs:compute-node-group-id"
_READ_CLUSTER = ("pcs:GetCluster", "pcs:ListComputeNodeGroups", "pcs:ListQueues")


class PcsClusterGrants:
    """Permissions on a cluster."""

    def __init__(self, cluster_arn: str) -> None:
        self._arn = cluster_arn

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the cluster, and to list its node groups and queues."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(_READ_CLUSTER), resource_arns=[self._arn])


class PcsNodeGroupGrants:
    """Permissions on a node group and its nodes."""

    def __init__(self, scope: IConstruct, *, node_group_id: str, node_group_arn: str) -> None:
        self._stack = cdk.Stack.of(scope)
        self._id = node_group_id
        self._arn = node_group_arn

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to describe the group."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["pcs:GetComputeNodeGroup"], resource_arns=[self._arn]
        )

    @checked_method
    def start_session(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to log in to the nodes through Session Manager."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["ssm:StartSession"],
            resource_arns=[self._stack.format_arn(service="ec2", resource="instance", resource_name="*")],
            conditions={"StringEquals": {f"ssm:resourceTag/{NODE_GROUP_TAG}": self._id}},
        )
