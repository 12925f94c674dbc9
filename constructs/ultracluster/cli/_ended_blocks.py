"""Capacity Blocks that have ended, of node groups that AWS PCS no longer updates, and those that nobody can have."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from ultracluster.cli._deploy_check import DeployCheck, Templates, cluster_of, properties_of
from ultracluster.planning.capacity import Block

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_TYPE = "AWS::PCS::ComputeNodeGroup"
#: Also a warning of the cluster file.
CAPACITY_ENDED = DeployCheck(
    "capacity-ended", "AWS PCS refuses an update of a node group whose Capacity Block has ended."
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

    ends = {
        group.name: group.capacity.ends.astimezone(UTC)
        for group in cluster.node_groups
        if isinstance(group.capacity, Block) and group.capacity.ends is not None and group.capacity.ends <= now
    }
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


def not_yet_sold(cluster: "ClusterFile", today: date) -> list[str]:
    """Return the warnings about Capacity Blocks that nobody can have on a day, without those that the file accepts."""
    from ultracluster.clusterfile import BLOCK_NOT_YET_SOLD, warnings

    return [
        f"{row.message}; if AWS sold it, accept {row.rule} with a reason"
        for row in warnings(cluster, today)
        if row.rule == BLOCK_NOT_YET_SOLD.id and row.accepted is None
    ]
