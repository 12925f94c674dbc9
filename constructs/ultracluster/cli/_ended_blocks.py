"""Capacity Blocks that have ended, of node groups that AWS PCS no longer updates, and those that nobody can have."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ultracluster.planning.capacity import Block

if TYPE_CHECKING:
    from cdk_rehearsal.guard import Report
    from ultracluster.clusterfile import ClusterFile

_TYPE = "AWS::PCS::ComputeNodeGroup"


def ended_updates(cluster: "ClusterFile", report: "Report", deployed: Path, now: datetime) -> Iterator[str]:
    """Yield a line for each node group that an update changes after the end of its Capacity Block.

    The update fails, and so may its rollback. A group may be removed.

    Args:
        cluster: Cluster file.
        report: Report of the guard.
        deployed: Directory with the templates that are deployed.
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
        template = json.loads((deployed / f"{finding.stack}.template.json").read_text(encoding="utf-8"))
        name = (template["Resources"][finding.logical_id].get("Properties") or {}).get("Name")
        if isinstance(name, str) and name in ends:
            changed = ", ".join(properties)
            yield (
                f"capacity-ended: {finding.name}: the Capacity Block of {name} ended at {ends[name]:%Y-%m-%d %H:%M} "
                f"UTC, and AWS PCS refuses an update of its node group ({changed}). If you extended the block, write "
                f"its new `ends`. Else first remove {name} from the file and its queues, and deploy that: --allow "
                f"{finding.name}; see docs/operations/operate.md#after-the-end"
            )


def not_yet_sold(cluster: "ClusterFile", today: date) -> list[str]:
    """Return the warnings about Capacity Blocks that nobody can have on a day, without those that the file accepts."""
    from ultracluster.clusterfile import BLOCK_NOT_YET_SOLD, warnings

    return [
        f"{row.message}; if AWS sold it, accept {row.rule} with a reason"
        for row in warnings(cluster, today)
        if row.rule == BLOCK_NOT_YET_SOLD.id and row.accepted is None
    ]
