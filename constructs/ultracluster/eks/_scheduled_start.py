"""Start of the nodes of a Capacity Block."""

from datetime import UTC, datetime

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from ultracluster.clusterfile import NodeGroup
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.eks._node_group import EksNodeGroup
from ultracluster.planning import checked
from ultracluster.planning.capacity import starts_at
from ultracluster.rules import Refusal

_DAY_SECONDS = 24 * 60 * 60
# EventBridge's most: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html (read 2026-11-22)
_RETRIES = 185


class EksScheduledStart(cdk.Resource):
    """A schedule that scales a managed node group up at a time, such as the start of its Capacity Block.

    EventBridge Scheduler calls `UpdateNodegroupConfig` itself, and retries for a day: EKS refuses while it updates the
    group. The minimum stays zero, so that EKS can scale the group to zero before the block ends.

    Args:
        cluster: Cluster of the group.
        node_group: The group.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.

    Raises:
        Refusal: If the time has no time zone.

    See: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html (read 2026-11-22)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        node_group: EksNodeGroup,
        at: datetime,
    ) -> None:
        super().__init__(scope, id)
        if at.tzinfo is None:
            raise Refusal(self, f"at must have a time zone, got {at.isoformat()}")
        stack = cdk.Stack.of(self)
        #: Role of the schedule, which may change this group only.
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
            ),
        )
        grant = iam.Grant.add_to_principal(
            grantee=self.role, actions=["eks:UpdateNodegroupConfig"], resource_arns=[node_group.node_group_arn]
        )
        scaling = {"MinSize": 0, "MaxSize": node_group.count, "DesiredSize": node_group.count}
        l1 = scheduler.CfnSchedule
        schedule = l1(
            self,
            "Resource",
            description=f"Starts the nodes of {node_group.name} with their Capacity Block",
            flexible_time_window=l1.FlexibleTimeWindowProperty(mode="OFF"),
            schedule_expression=f"at({at.astimezone(UTC):%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            target=l1.TargetProperty(
                arn=f"arn:{stack.partition}:scheduler:::aws-sdk:eks:updateNodegroupConfig",
                role_arn=self.role.role_arn,
                input=stack.to_json_string(
                    {
                        "ClusterName": cluster.cluster_name,
                        "NodegroupName": node_group.name,
                        "ScalingConfig": scaling,
                    }
                ),
                retry_policy=l1.RetryPolicyProperty(
                    maximum_event_age_in_seconds=_DAY_SECONDS, maximum_retry_attempts=_RETRIES
                ),
            ),
        )
        grant.apply_before(schedule)


def start_with_block(scope: Construct, group: NodeGroup, cluster: eks.ICluster, nodes: Construct) -> None:
    """Scale a group of a cluster file up when its Capacity Block starts, if the file has the time."""
    start = starts_at(group.capacity)
    if start is not None and isinstance(nodes, EksNodeGroup):
        EksScheduledStart(scope, "Start", cluster=cluster, node_group=nodes, at=start)
