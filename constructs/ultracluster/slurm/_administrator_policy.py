"""IAM policy of people who operate a cluster."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.planning import as_list, checked, stack_of
from ultracluster.security import acknowledge_wildcards
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._user_policy import FIND_ACTIONS, OWN_SESSION_ACTIONS, own_sessions

#: Tag of all instances of a cluster, with its id; only AWS PCS can set it.
CLUSTER_TAG = "aws:pcs:cluster-id"
# Not CreateCluster and DeleteCluster: a deployment does both, and accounting goes with the cluster.
_CLUSTER = ("GetCluster", "ListComputeNodeGroups", "ListQueues", "UpdateCluster")
_VERBS = ("Create", "Delete", "Get", "Update")
_CHILDREN = [f"{verb}{kind}" for kind in ("ComputeNodeGroup", "Queue") for verb in _VERBS]
# Permissions that PCS requires for changes of a node group. https://docs.aws.amazon.com/pcs/latest/userguide/
# security-min-permissions.html (read 2026-11-22)
_NODE_GROUPS = (
    "ec2:CreateFleet",
    "ec2:CreateTags",
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ec2:RunInstances",
    "iam:GetInstanceProfile",
    "pcs:ListClusters",
    # It has no permissions on single resources.
    "pcs:ListTagsForResource",
)
# What runbooks and docs/operations/node-health.md run; none has permissions on single resources, and GetQueryResults
# none on the log group of its query. https://docs.aws.amazon.com/service-authorization/latest/reference/ (read
# 2026-11-27)
_RUNBOOKS = (
    "ec2:DescribeInstanceStatus",
    "fsx:DescribeFileSystems",
    "logs:GetQueryResults",
    "logs:StopQuery",
    "ssm:GetCommandInvocation",
)


class PcsAdministratorPolicy(iam.ManagedPolicy):
    """Policy of people who operate one cluster: its node groups, queues and nodes, sessions on them as root, its logs.

    It creates and deletes neither clusters nor file systems, roles or networks: a deployment does, with its own roles.

    Args:
        cluster: The cluster.
        node_roles: Roles of its nodes, which a new node group takes.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/security-min-permissions.html (read 2026-11-22)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: IPcsCluster,
        node_roles: iam.IRole | Sequence[iam.IRole],
    ) -> None:
        super().__init__(scope, id, description="Operate a Slurm cluster: node groups, queues, nodes and logs")
        stack: cdk.Stack = stack_of(self)
        children = f"{cluster.cluster_arn}/*"
        instances = stack.format_arn(service="ec2", resource="instance", resource_name="*")
        groups = [
            stack.format_arn(
                service="logs",
                resource="log-group",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
                resource_name=f"{name}*",
            )
            for name in (f"/aws/vendedlogs/pcs/{cluster.cluster_id}", f"/ultracluster/{cluster.cluster_id}/nodes")
        ]
        run = stack.format_arn(service="ssm", account="", resource="document", resource_name="AWS-RunShellScript")
        shell = stack.format_arn(service="ssm", resource="document", resource_name="SSM-SessionManagerRunShell")
        sessions = own_sessions(stack)
        of_cluster = {"StringEquals": {f"aws:ResourceTag/{CLUSTER_TAG}": cluster.cluster_id}}
        self.add_statements(
            iam.PolicyStatement(
                sid="Cluster", actions=[f"pcs:{name}" for name in _CLUSTER], resources=[cluster.cluster_arn]
            ),
            iam.PolicyStatement(
                sid="NodeGroupsAndQueues",
                actions=[f"pcs:{name}" for name in _CHILDREN],
                resources=[cluster.cluster_arn, children],
            ),
            iam.PolicyStatement(
                sid="WhatNodeGroupsNeed",
                actions=sorted({*_NODE_GROUPS, *FIND_ACTIONS, *_RUNBOOKS}),
                resources=["*"],
            ),
            iam.PolicyStatement(
                sid="PassNodeRoles",
                actions=["iam:PassRole"],
                resources=[role.role_arn for role in as_list(node_roles)],
                conditions={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
            ),
            iam.PolicyStatement(
                sid="Nodes",
                actions=["ec2:GetConsoleOutput", "ec2:RebootInstances", "ec2:TerminateInstances"],
                resources=[instances],
                conditions=of_cluster,
            ),
            iam.PolicyStatement(
                sid="StartSession",
                actions=["ssm:StartSession"],
                resources=[instances],
                conditions={"StringEquals": {f"ssm:resourceTag/{CLUSTER_TAG}": cluster.cluster_id}},
            ),
            # For `ultracluster image import`. A session has the same rights: its user may run sudo.
            iam.PolicyStatement(
                sid="RunCommands",
                actions=["ssm:SendCommand"],
                resources=[instances],
                conditions={"StringEquals": {f"ssm:resourceTag/{CLUSTER_TAG}": cluster.cluster_id}},
            ),
            iam.PolicyStatement(sid="UseRunShellScript", actions=["ssm:SendCommand"], resources=[run]),
            iam.PolicyStatement(sid="UseShell", actions=["ssm:StartSession"], resources=[shell]),
            iam.PolicyStatement(sid="OwnSessions", actions=list(OWN_SESSION_ACTIONS), resources=[sessions]),
            iam.PolicyStatement(
                sid="ReadLogs",
                actions=["logs:FilterLogEvents", "logs:GetLogEvents", "logs:StartQuery"],
                resources=groups,
            ),
        )
        acknowledge_wildcards(
            self,
            ["*", children, instances, sessions, *groups],
            "Nodes are restricted by a tag that only AWS PCS sets; ids of nodes, node groups, queues and sessions are "
            "not known at synthesis; AWS's guide to PCS permissions names the actions on *, of which iam:PassRole is "
            "restricted to the roles of the nodes",
        )
