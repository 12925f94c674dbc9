"""Capacity that the account has: reservations and Capacity Blocks."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.live._account import Account, Call
from ultracluster.live._check import Check
from ultracluster.live._finding import Finding, time_text
from ultracluster.planning.capacity import (
    Block,
    InterruptibleReservation,
    OpenReservation,
    ReservationGroup,
    Reserved,
    TargetedReservation,
    waits,
)

_DESCRIBE = Call(
    service="ec2",
    operation="describe_capacity_reservations",
    action="ec2:DescribeCapacityReservations",
    result="CapacityReservations",
)
_GROUP = Call(
    service="resource-groups",
    operation="list_group_resources",
    action="resource-groups:ListGroupResources",
    result="Resources",
)
_MISSING = "InvalidCapacityReservationId.NotFound InvalidCapacityReservationId.Malformed"
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html (read 2026-11-23): the states
# from which a reservation becomes active by itself.
_COMING = ("scheduled", "pending", "assessing", "delayed", "payment-pending")


def _reservations(check: Check, cluster: ClusterFile, account: Account) -> Iterator[Finding]:
    groups: dict[str, list[NodeGroup]] = {}
    for group in cluster.node_groups:
        if isinstance(group.capacity, Reserved):
            groups.setdefault(group.capacity.reservation_id, []).append(group)
    for name, users in groups.items():
        answer = account.find(_DESCRIBE, missing=_MISSING, CapacityReservationIds=[name])
        records = answer["CapacityReservations"] if answer else []
        if not records:
            yield check.bad(
                f"{name}: no such reservation in {account.region} that this account owns, or that is shared with it",
                "check id, Region and account; its owner shares it with AWS Resource Access Manager",
            )
            continue
        problems = list(_problems(check, records[0], users, cluster))
        yield from problems
        if not problems:
            yield check.good(f"{name}: {_words(records[0])}")
    for group in cluster.node_groups:
        if isinstance(group.capacity, OpenReservation):
            yield from _open(check, account, group, group.capacity)
        elif isinstance(group.capacity, ReservationGroup):
            yield from _group(check, account, group, group.capacity)


def _words(record: dict[str, Any]) -> str:
    end = record.get("EndDate")
    return (
        f"{record['AvailableInstanceCount']:,} of {record['TotalInstanceCount']:,} {record['InstanceType']} are free "
        f"in {record['AvailabilityZoneId']}" + (f", until {time_text(end)}" if end else "")
    )


def _problems(check: Check, record: dict[str, Any], users: list[NodeGroup], cluster: ClusterFile) -> Iterator[Finding]:
    name, names = record["CapacityReservationId"], ", ".join(group.name for group in users)
    for group in users:
        if record["InstanceType"] != group.instance_type.name:
            yield check.bad(
                f"{name} holds {record['InstanceType']}, and {group.name} has {group.instance_type.name}",
                f"change `nodes.{group.section}.type` or the reservation",
            )
        if record["AvailabilityZoneId"] != group.zone:
            yield check.bad(
                f"{name} is in {record['AvailabilityZoneId']}, and {group.name} in {group.zone}",
                f"set `zone: {record['AvailabilityZoneId']}`",
            )
        yield from _kind(check, record, group)
        yield from _times(check, record, group)
        if cluster.traits.starts_by_schedule:
            yield from _nodes_too_early(check, record, group)
    if record["InstancePlatform"] != "Linux/UNIX" or record["Tenancy"] != "default":
        yield check.bad(
            f"{name} is for {record['InstancePlatform']} with {record['Tenancy']} tenancy, and nodes are Linux/UNIX "
            "with default tenancy",
            "reserve again with the platform Linux/UNIX and default tenancy",
        )
    if record["State"] in _COMING:
        start = record.get("StartDate")
        when = f", and starts {time_text(start)}" if start else ""
        yield check.doubt(f"{name} is {record['State']}{when}: no node starts before", "deploy, and wait for its start")
    elif record["State"] != "active":
        yield check.bad(f"{name} is {record['State']}", "name a reservation that is active, or that will be")
    requested, total = sum(group.count for group in users), record["TotalInstanceCount"]
    if total < requested:
        yield check.bad(
            f"{name} has {total:,} instances, and {names} want {requested:,}", f"set `count` to {total:,} at most"
        )
    elif record["State"] == "active" and record["AvailableInstanceCount"] < requested:
        free = record["AvailableInstanceCount"]
        yield check.doubt(
            f"{name} has {free:,} of {total:,} instances free, and {names} want {requested:,}",
            "nothing if this cluster uses the others; otherwise terminate their instances",
        )


def _kind(check: Check, record: dict[str, Any], group: NodeGroup) -> Iterator[Finding]:
    """Yield the differences in kind and placement group."""
    name, capacity = record["CapacityReservationId"], group.capacity
    is_block = record.get("ReservationType") == "capacity-block"
    key = f"`nodes.{group.section}.capacity`"
    if is_block != isinstance(capacity, Block):
        real, kind = ("a Capacity Block", "capacity-block") if is_block else ("no Capacity Block", "odcr")
        yield check.bad(f"{name} is {real}", f"write {key} as {{reservation: {name}, kind: {kind}}}")
    elif bool(record.get("Interruptible")) != isinstance(capacity, InterruptibleReservation):
        real, kind = (
            ("interruptible", "interruptible") if record.get("Interruptible") else ("not interruptible", "odcr")
        )
        yield check.bad(f"{name} is {real}", f"write {key} as {{reservation: {name}, kind: {kind}}}")
    if isinstance(capacity, TargetedReservation):
        real_group = record.get("PlacementGroupArn", "").rpartition("/")[2]
        if real_group != (capacity.placement_group or ""):
            yield check.bad(
                f"{name} is {f'in the placement group {real_group}' if real_group else 'in no placement group'}, and "
                f"{group.name} in {capacity.placement_group or 'none'}: its instances would not match",
                f"add `placement-group: {real_group}` to {key}"
                if real_group
                else f"leave `placement-group` out of {key}",
            )


def _times(check: Check, record: dict[str, Any], group: NodeGroup) -> Iterator[Finding]:
    """Yield the differences in start and end of what starts later, or ends."""
    name, start, end = (record.get(key) for key in ("CapacityReservationId", "StartDate", "EndDate"))
    capacity = group.capacity
    if end is not None and end <= datetime.now(UTC):
        yield check.bad(f"{name} ended {time_text(end)}", "name another reservation")
        return
    if isinstance(capacity, Block):
        times = {"starts": start, "ends": end} if end is not None else {}
    else:
        # EC2 may deliver a reservation at another minute than the requested one.
        comes = record["State"] in _COMING and isinstance(capacity, TargetedReservation)
        times = {"starts": start} if comes else {}
        if end is not None and getattr(capacity, "ends", None) is not None:
            times["ends"] = end
        elif end is not None:
            fix = "; or set `ends` beside `kind: odcr`" if isinstance(capacity, TargetedReservation) else ""
            yield check.doubt(
                f"{name} ends {time_text(end)}, and its instances with it or at their price on demand",
                f"extend it{fix}",
            )
    for key, real in times.items():
        time = getattr(capacity, key)
        if real is None or (time is not None and time.astimezone(UTC) == real.astimezone(UTC)):
            continue
        if time is None:
            yield check.doubt(
                f"{name} {key} {time_text(real)}, and the file does not have it",
                f"set `{key}: {time_text(real)}`" + ("" if isinstance(capacity, Block) else " beside `kind: odcr`"),
            )
        else:
            yield check.bad(
                f"{name} {key} {time_text(real)}, and the file has {time_text(time)}", f"set `{key}: {time_text(real)}`"
            )


def _nodes_too_early(check: Check, record: dict[str, Any], group: NodeGroup) -> Iterator[Finding]:
    """Yield a reservation that starts later, of a group of EKS that is created with its nodes."""
    nodes_at_once = isinstance(group.capacity, TargetedReservation) and not waits(group.capacity)
    if record["State"] not in _COMING or not nodes_at_once or group.elastic:
        return
    name, start = record["CapacityReservationId"], record.get("StartDate")
    # EKS fails a group whose nodes do not launch: CREATE_FAILED, AsgInstanceLaunchFailures, as in
    # https://github.com/eksctl-io/eksctl/issues/4732 and https://github.com/aws/containers-roadmap/issues/2204 (read
    # 2026-11-27)
    yield check.bad(
        f"{name} is {record['State']}, and EKS creates {group.name} with its nodes: their launch fails, and the "
        "deployment is rolled back",
        f"set `nodes.{group.section}.capacity` to {{reservation: {name}, kind: odcr, starts: {time_text(start)}}}"
        if start
        else "deploy once it is scheduled, with its start",
    )


def _open(check: Check, account: Account, group: NodeGroup, capacity: OpenReservation) -> Iterator[Finding]:
    filters = [
        {"Name": "instance-type", "Values": [group.instance_type.name]},
        {"Name": "state", "Values": ["active"]},
    ]
    free = sum(
        record["AvailableInstanceCount"]
        for record in account.pages(_DESCRIBE, Filters=filters)
        if record["InstanceMatchCriteria"] == "open"
        and record["AvailabilityZoneId"] == group.zone
        and record.get("PlacementGroupArn", "").rpartition("/")[2] == (capacity.placement_group or "")
    )
    message = f"open reservations have {free:,} free {group.instance_type.name} in {group.zone}, and {group.name} needs"
    if free < group.count:
        yield check.doubt(
            f"{message} {group.count:,}",
            "nothing if this cluster uses them; EC2 offers the others on demand, if it has any",
        )
    else:
        yield check.good(f"{message} {group.count:,}")


def _group(check: Check, account: Account, group: NodeGroup, capacity: ReservationGroup) -> Iterator[Finding]:
    arns = [entry["Identifier"]["ResourceArn"] for entry in account.pages(_GROUP, Group=capacity.arn)]
    ids = [arn.rpartition("/")[2] for arn in arns if ":capacity-reservation/" in arn]
    records = account.ask(_DESCRIBE, CapacityReservationIds=ids)["CapacityReservations"] if ids else []
    total = sum(
        record["TotalInstanceCount"]
        for record in records
        if record["InstanceType"] == group.instance_type.name
        and record["AvailabilityZoneId"] == group.zone
        and record["State"] == "active"
        and record.get("ReservationType") != "capacity-block"
    )
    message = (
        f"{capacity.arn.rpartition('/')[2]} has {total:,} active {group.instance_type.name} in {group.zone}, and "
        f"{group.name} needs {group.count:,}"
    )
    if total < group.count:
        yield check.doubt(message, "add reservations to the group; EC2 offers the others on demand, if it has any")
    else:
        yield check.good(message)


def _needs(cluster: ClusterFile) -> bool:
    return any(isinstance(g.capacity, Reserved | OpenReservation | ReservationGroup) for g in cluster.node_groups)


CHECKS = (
    Check(
        id="live-reservation",
        reason="A reservation must exist, match the nodes, have room for them, and not end before.",
        run=_reservations,
        calls=(_DESCRIBE, _GROUP),
        applies=_needs,
    ),
)
