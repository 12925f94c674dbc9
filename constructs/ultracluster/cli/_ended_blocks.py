"""Capacity Blocks that have ended, of node groups that AWS PCS no longer updates, and those that have not begun."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Move(NamedTuple):
    """Node group that an update moves from a reservation to another, which may be none."""

    stack: str
    id: str
    name: str
    old: str
    new: str | None


class Left(NamedTuple):
    """Reservation that a node group leaves: its state in EC2's words, and the end of a Capacity Block."""

    state: str
    end: datetime | None = None


def ended_updates(
    cluster: "ClusterFile", report: "Report", deployed: Templates, now: datetime, left: Mapping[str, Left]
) -> Iterator[str]:
    """Yield a line for each node group that an update changes after the end of its Capacity Block.

    The update fails, and so may its rollback. A group may be removed.

    Args:
        cluster: Cluster file.
        report: Report of the guard.
        deployed: Templates that are deployed. An app may have several clusters, with groups of one name.
        now: Time, with a time zone.
        left: Reservations that node groups leave, by group. The file has the ends of the others.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/capacity-blocks-configure-cng.html (read 2026-11-26)
    """
    from cdk_rehearsal.guard import Fate

    ends = {
        group.name: group.capacity.ends
        for group in cluster.node_groups
        if isinstance(group.capacity, Block) and group.capacity.ends is not None and group.capacity.ends <= now
    }
    ends |= {name: block.end for name, block in left.items() if block.state == "expired" and block.end is not None}
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
                f"{finding.name}: the Capacity Block of {name} ended at {ends[name].astimezone(UTC):%Y-%m-%d %H:%M} "
                f"UTC, and AWS PCS refuses an update of its node group ({changed}). If you extended the block, write "
                f"its new `ends`. Else replace {name} by a group of the next block in the same queues: --allow "
                f"{finding.name}; until then, deploy no edit of it. See docs/operations/operate.md#after-the-end"
            )


def moves(cluster: "ClusterFile", deployed: Templates, new: Templates) -> list[Move]:
    """Return the node groups of a cluster that leave their reservation, and stay."""
    left = []
    for stack, template in new.items():
        for id, resource in template.get("Resources", {}).items():
            if resource.get("Type") not in (_TYPE, "AWS::EKS::Nodegroup"):
                continue
            before, after = properties_of(deployed, stack, id), properties_of(new, stack, id)
            owner = cluster_of(new, stack, after.get("ClusterId") or after.get("ClusterName"))
            old, following = reservation_of(deployed, stack, before), reservation_of(new, stack, after)
            if old and old != following and owner in (cluster.name, None):
                left.append(Move(stack, id, str(after.get("Name") or after.get("NodegroupName")), old, following))
    return left


def left_in_file(before: "ClusterFile", moved: Sequence[Move], now: datetime) -> dict[str, Left]:
    """Return the reservations that node groups leave, by group, as the cluster file before the edit has them."""
    blocks = {group.name: group.capacity for group in before.node_groups if isinstance(group.capacity, Block)}
    left = {}
    for name in [move.name for move in moved if move.name in blocks]:
        starts, end = blocks[name].starts, blocks[name].ends
        scheduled, expired = starts is not None and starts > now, end is not None and end <= now
        left[name] = Left("scheduled" if scheduled else "expired" if expired else "active", end)
    return left


def left_in_account(moved: Sequence[Move], client: Callable[[str, str], Any], region: str) -> dict[str, Left]:
    """Return the reservations that node groups leave, by group, as EC2 has them.

    Raises:
        botocore.exceptions.ClientError: If the credentials may not read them.

    See: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html (read 2026-11-27)
    """
    from botocore.exceptions import ClientError

    left = {}
    for move in moved:
        left[move.name] = Left("not found")
        try:
            answer = client("ec2", region).describe_capacity_reservations(CapacityReservationIds=[move.old])
        except ClientError as error:
            if not error.response["Error"]["Code"].startswith("InvalidCapacityReservationId"):
                raise
            continue
        for row in answer["CapacityReservations"]:
            block = row.get("ReservationType") == "capacity-block"
            left[move.name] = Left(row["State"], row.get("EndDate") if block else None)
    return left


def early_moves(
    cluster: "ClusterFile",
    moved: Sequence[Move],
    now: datetime,
    left: Mapping[str, Left],
    *,
    empty: Collection[str] = (),
) -> Iterator[str]:
    """Yield a line for each node group that leaves a running reservation for one that begins later.

    AWS PCS drains its nodes, and EKS ends them, while the reservation is paid for, and none start until the other
    begins.

    Args:
        cluster: Cluster file.
        moved: Node groups that leave their reservation.
        now: Time, with a time zone.
        left: Reservations that they leave, by group. Others count as running.
        empty: Names of node groups without nodes.
    """
    starts = {group.name: getattr(group.capacity, "starts", None) for group in cluster.node_groups}
    for stack, id, name, old, new in moved:
        start = starts.get(name)
        if start and start > now and name not in empty and left.get(name, Left("active")).state == "active":
            yield CAPACITY_NOT_BEGUN(
                f"{stack}/{id}: {name} would leave {old} for {new}, which begins at "
                f"{start.astimezone(UTC):%Y-%m-%d %H:%M} UTC, and have no nodes until then. Keep {name} as it is, "
                f"and add {new} as a section of its own under nodes; remove {name} when {old} has ended"
            )


def not_yet_sold(cluster: "ClusterFile", today: date) -> list[str]:
    """Return the warnings about Capacity Blocks that nobody can have on a day, without those that the file accepts."""
    from ultracluster.clusterfile import BLOCK_NOT_YET_SOLD, warnings

    return [
        f"{row.message}; if AWS sold it, accept {row.rule} with a reason"
        for row in warnings(cluster, today)
        if row.rule == BLOCK_NOT_YET_SOLD.id and row.accepted is None
    ]
