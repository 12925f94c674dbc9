"""Capacity Blocks that have ended, of node groups that AWS PCS no longer updates, and those that have not begun."""

from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from ultracluster.cli._deploy_check import DeployCheck, Templates, cluster_of, properties_of
from ultracluster.cli._taken_reservations import reservation_of
from ultracluster.planning.capacity import Block

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_TYPE = "AWS::PCS::ComputeNodeGroup"
#: Also a warning of the cluster file.
CAPACITY_ENDED = DeployCheck(
    "capacity-ended", "AWS PCS refuses an update of a node group whose Capacity Block has ended."
)


CAPACITY_NOT_BEGUN = DeployCheck(
    "capacity-not-begun", "A node group that leaves its reservation for one that begins later has no nodes until then."
)


def ended_updates(cluster: "ClusterFile", report: "Report", deployed: Templates, now: datetime) -> Iterator[str]:
    """Yield a line for each node group that an update changes after the end of its Capacity Block.

    The update fails, and so may its rollback. A group may be removed.

    Args:
        cluster: Cluster file.
        report: Report of the guard.
        deployed: Templates that are deployed. An app may have several clusters, with groups of one name.
        now: Time, with a time zone.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html (read 2026-11-26)
    """
    from cdk_rehearsal.guard import Fate

    ends = ended_groups(cluster, now)
    for finding in report.nodes if ends else ():
        # Tags are changed by a call of their own.
        properties = [cause.property for cause in finding.causes if not cause.property.startswith("Tags")]
        if finding.type != _TYPE or finding.fate in (Fate.DELETED, Fate.ORPHANED) or not properties:
            continue
        group = properties_of(deployed, finding.stack, finding.logical_id)
        name, owner = group.get("Name"), cluster_of(deployed, finding.stack, group.get("ClusterId"))
        if isinstance(name, str) and name in ends and owner in (cluster.name, None):
            changed = ", ".join(properties)
            yield CAPACITY_ENDED(
                f"{finding.name}: the Capacity Block of {name} ended at {ends[name]:%Y-%m-%d %H:%M} "
                f"UTC, and AWS PCS refuses an update of its node group ({changed}). If you extended the block, write "
                f"its new `ends`. Else replace {name} by a group of the next block in the same queues: --allow "
                f"{finding.name}; until then, deploy no edit of it. See docs/operations/operate.md#after-the-end"
            )


def ended_groups(cluster: "ClusterFile", now: datetime) -> dict[str, datetime]:
    """Return the ends of Capacity Blocks that have ended, in UTC, by node group."""
    return {
        group.name: group.capacity.ends.astimezone(UTC)
        for group in cluster.node_groups
        if isinstance(group.capacity, Block) and group.capacity.ends is not None and group.capacity.ends <= now
    }


def early_moves(
    cluster: "ClusterFile", deployed: Templates, new: Templates, now: datetime, *, ended: Collection[str] = ()
) -> Iterator[str]:
    """Yield a line for each node group that leaves its reservation for one that begins later.

    AWS PCS drains its nodes, and EKS ends them, while the reservation is paid for, and none start until the other
    begins.

    Args:
        cluster: Cluster file.
        deployed: Templates that are deployed.
        new: Templates that shall be deployed.
        now: Time, with a time zone.
        ended: Names of node groups whose reservation has ended already.
    """
    starts = {group.name: getattr(group.capacity, "starts", None) for group in cluster.node_groups}
    for stack, template in new.items():
        for id, resource in template.get("Resources", {}).items():
            if resource.get("Type") not in (_TYPE, "AWS::EKS::Nodegroup"):
                continue
            before, after = properties_of(deployed, stack, id), properties_of(new, stack, id)
            name, owner = str(after.get("Name") or after.get("NodegroupName")), after.get("ClusterId")
            start, old = starts.get(name), reservation_of(deployed, stack, before)
            following = reservation_of(new, stack, after)
            of_cluster = cluster_of(new, stack, owner or after.get("ClusterName")) in (cluster.name, None)
            if start and start > now and old and old != following and of_cluster and name not in ended:
                yield CAPACITY_NOT_BEGUN(
                    f"{stack}/{id}: {name} would leave {old} for {following}, which begins at "
                    f"{start.astimezone(UTC):%Y-%m-%d %H:%M} UTC, and have no nodes until then. Keep {name} as it is, "
                    f"and add {following} as a section of its own under nodes; remove {name} when {old} has ended"
                )


def not_yet_sold(cluster: "ClusterFile", today: date) -> list[str]:
    """Return the warnings about Capacity Blocks that nobody can have on a day, without those that the file accepts."""
    from ultracluster.clusterfile import BLOCK_NOT_YET_SOLD, warnings

    return [
        f"{row.message}; if AWS sold it, accept {row.rule} with a reason"
        for row in warnings(cluster, today)
        if row.rule == BLOCK_NOT_YET_SOLD.id and row.accepted is None
    ]
