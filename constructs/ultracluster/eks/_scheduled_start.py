"""Start of the nodes of a Capacity Block."""

from datetime import datetime

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from ultracluster.clusterfile import NodeGroup
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.eks._node_group import EksNodeGroup
from ultracluster.eks._scheduled_run import ScheduledRun
from ultracluster.planning import checked
from ultracluster.planning.capacity import starts_at

# EventBridge's most: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html (read 2026-11-22)
_RETRIES = 185


class EksScheduledStart(ScheduledRun):
    """A schedule that scales a managed node group up at a time, such as the start of its Capacity Block.

    EventBridge Scheduler calls `UpdateNodegroupConfig` itself, and retries for a day: EKS refuses while it updates the
    group. The minimum stays zero, so that EKS can scale the group to zero before the block ends.

    Args:
        cluster: Cluster of the group.
        node_group: The group.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.

    Raises:
        Refusal: If the time has no time zone.
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
        super().__init__(
            scope,
            id,
            call="eks:updateNodegroupConfig",
            resources=[node_group.node_group_arn],
            at=at,
            input={
                "ClusterName": cluster.cluster_name,
                "NodegroupName": node_group.name,
                "ScalingConfig": {"MinSize": 0, "MaxSize": node_group.count, "DesiredSize": node_group.count},
            },
            description=f"Starts the nodes of {node_group.name} with their Capacity Block",
            hours=24,
            retries=_RETRIES,
        )


def start_with_block(scope: Construct, group: NodeGroup, cluster: eks.ICluster, nodes: Construct) -> None:
    """Scale a group of a cluster file up when its Capacity Block starts, if the file has the time."""
    start = starts_at(group.capacity)
    if start is not None and isinstance(nodes, EksNodeGroup):
        EksScheduledStart(scope, "Start", cluster=cluster, node_group=nodes, at=start)
