"""Nodes of scheduled capacity: their start with it, and their end before that of an UltraServer."""

from datetime import datetime
from typing import ClassVar

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from ultracluster.clusterfile import NodeGroup
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.eks._node_group import EksNodeGroup
from ultracluster.eks._scheduled_run import ScheduledRun
from ultracluster.orchestration import INodeGroup
from ultracluster.planning import checked
from ultracluster.planning.capacity import TargetedReservation, starts_at, stops_at

# EventBridge's most: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html (read 2026-11-22)
_RETRIES = 185


class _ScheduledSize(ScheduledRun):
    """A schedule that calls `UpdateNodegroupConfig`, and retries: EKS refuses while it updates the group."""

    #: The group has all its nodes then, or none.
    _all: ClassVar[bool]
    #: Hours for which EventBridge tries again.
    _hours: ClassVar[int]
    #: Description, with `{group}` and `{capacity}`.
    _description: ClassVar[str]

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
        count, reserved = node_group.count, isinstance(node_group.template.capacity, TargetedReservation)
        super().__init__(
            scope,
            id,
            call="eks:updateNodegroupConfig",
            resources=[node_group.node_group_arn],
            at=at,
            input={
                "ClusterName": cluster.cluster_name,
                "NodegroupName": node_group.name,
                "ScalingConfig": {"MinSize": 0, "MaxSize": count, "DesiredSize": count if self._all else 0},
            },
            description=self._description.format(
                group=node_group.name, capacity="reservation" if reserved else "Capacity Block"
            ),
            hours=self._hours,
            retries=_RETRIES,
        )


class EksScheduledStart(_ScheduledSize):
    """A schedule that scales a managed node group up at a time: the start of its Capacity Block or reservation.

    EventBridge Scheduler calls `UpdateNodegroupConfig` itself, and retries for a day: EKS refuses while it updates the
    group. The minimum stays zero, so that EKS can scale the group to zero before the block ends.

    Args:
        cluster: Cluster of the group.
        node_group: The group.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.

    Raises:
        Refusal: If the time has no time zone.
    """

    _all, _hours, _description = True, 24, "Starts the nodes of {group} with their {capacity}"


class EksScheduledStop(_ScheduledSize):
    """A schedule that scales a managed node group to zero at a time, such as 90 minutes before an UltraServer ends.

    EventBridge Scheduler calls `UpdateNodegroupConfig` itself, and retries for an hour. EKS drains each node, so that
    pods get their grace period.

    Args:
        cluster: Cluster of the group.
        node_group: The group.
        at: Time, with a time zone. EventBridge runs nothing that is in the past when the schedule is created.

    Raises:
        Refusal: If the time has no time zone.

    See: https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html (read 2026-11-21)
    """

    _all, _hours, _description = False, 1, "Scales {group} to zero before its {capacity} ends"


def schedule_block(scope: Construct, group: NodeGroup, cluster: eks.ICluster, nodes: INodeGroup) -> None:
    """Start the nodes of a group of a cluster file with their capacity, and end those of an UltraServer before it.

    Only what the file has the time of is scheduled.
    """
    if not isinstance(nodes, EksNodeGroup):
        return
    if (start := starts_at(group.capacity)) is not None:
        EksScheduledStart(scope, "Start", cluster=cluster, node_group=nodes, at=start)
    if (stop := stops_at(group.capacity)) is not None:
        EksScheduledStop(scope, "Stop", cluster=cluster, node_group=nodes, at=stop)
