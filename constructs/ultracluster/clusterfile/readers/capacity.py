"""How a cluster file says that nodes are bought."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import count, did_you_mean, flag, one_of, text
from ultracluster.clusterfile.readers.nodes import placement_group_name
from ultracluster.planning import (
    Block,
    Capacity,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)
from ultracluster.planning.reservation_ids import check_group_arn, check_reservation_id, check_training_plan_arn

KINDS = {
    "odcr": TargetedReservation,
    "capacity-block": CapacityBlock,
    "ultraserver": UltraServerBlock,
    "interruptible": InterruptibleReservation,
}
WORDS: dict[str, Capacity] = {"on-demand": OnDemand(), "spot": Spot()}
_HEADS = ("reservation", "reservations", "group", "training-plan")
_OF_A_BLOCK = ("ends", "active")
_KEYS = (*_HEADS, "kind", "instances", *_OF_A_BLOCK, "placement-group")
_FORMS = (
    "on-demand, spot, cr-..., {reservation: cr-..., kind: odcr | capacity-block | ultraserver | interruptible}, "
    "{reservations: [cr-..., cr-...], kind: capacity-block | ultraserver}, {reservation: open}, {group: ARN}, "
    "{training-plan: ARN}"
)
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
BLOCKS_END = time(11, 30, tzinfo=UTC)
# From the year in which EC2 began to sell them on; a schedule's year has four digits.
_YEARS = range(2023, 2100)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """Several Capacity Blocks of one kind, each of which becomes a node group of its own.

    Args:
        blocks: At least one.
    """

    blocks: tuple[Block, ...]


def read_capacity(value: object) -> Capacity | Blocks:
    """Read the `capacity` of a node group.

    Raises:
        ValueError: When it is none of the forms; a `FieldProblems` when parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, str):
        raise ValueError(f"must be one of {_FORMS}; got {shown(value)}")
    if value in WORDS:
        return WORDS[value]
    if value.startswith("cr-"):
        return TargetedReservation(reservation_id=_checked(value, check_reservation_id))
    if value.startswith("arn:"):
        key = "training-plan" if ":training-plan/" in value else "group"
        raise ValueError(f"an ARN is written as {{{key}: ARN}}, got {shown(value)}")
    hint = did_you_mean(value, [*WORDS, *KINDS])
    if value in KINDS or any(f"mean {kind}?" in hint for kind in KINDS):
        hint = "a reservation is written as {reservation: cr-..., kind: " + (value if value in KINDS else "...") + "}; "
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}; {hint}".rstrip("; "))


def write_capacity(capacity: Capacity | Blocks) -> str | dict[str, Any]:
    """A capacity as a cluster file says it, such that reading it gives the same again."""
    match capacity:
        case OnDemand() | Spot():
            return capacity.word
        case OpenReservation():
            own = capacity.placement_group
            return {"reservation": "open"} | ({"placement-group": own} if own is not None else {})
        case ReservationGroup():
            return {"group": capacity.arn}
        case TrainingPlan():
            return {"training-plan": capacity.arn}
        case Blocks():
            first = write_capacity(capacity.blocks[0])
            assert isinstance(first, dict)
            del first["reservation"]
            return {"reservations": [block.reservation_id for block in capacity.blocks], **first}
    written: dict[str, Any] = {"reservation": capacity.reservation_id}
    written["kind"] = next(kind for kind, made in KINDS.items() if isinstance(capacity, made))
    ends = getattr(capacity, "ends", None)
    extra = {
        "instances": capacity.instances,
        "ends": ends and ends.isoformat().replace("+00:00", "Z"),
        "active": getattr(capacity, "active", False) or None,
        "placement-group": getattr(capacity, "placement_group", None),
    }
    return written | {key: value for key, value in extra.items() if value is not None}


def _from_mapping(value: dict[str, Any]) -> Capacity | Blocks:
    problems = [
        Problem(
            path=(key,), at_key=True, message=f"unknown key; {did_you_mean(key, _KEYS)}allowed are {', '.join(_KEYS)}"
        )
        for key in value
        if key not in _KEYS
    ]
    heads = [key for key in _HEADS if key in value]
    if len(heads) != 1:
        got = f"got {' and '.join(heads)}" if heads else "got none of them"
        problems.append(Problem(path=(), message=f"needs one of {', '.join(_HEADS)}, {got}; the forms are {_FORMS}"))
        raise FieldProblems(problems)
    head = heads[0]
    if head == "reservations" or (head == "reservation" and value[head] != "open"):
        return _reservations(head, value, problems)
    whose = "an open reservation" if head == "reservation" else f"a {head}"
    problems += [
        Problem(path=(key,), at_key=True, message=f"belongs to a reservation that is named, not to {whose}; remove it")
        for key in ("kind", "instances", *_OF_A_BLOCK, "placement-group")
        if key in value and (head, key) != ("reservation", "placement-group")
    ]
    if head == "reservation":
        own = _part(problems, "placement-group", value, placement_group_name) if "placement-group" in value else None
        if problems:
            raise FieldProblems(problems)
        return OpenReservation(placement_group=own)
    check = check_group_arn if head == "group" else check_training_plan_arn
    arn = _part(problems, head, value, lambda found: _checked(text(found, "an ARN"), check))
    if problems or arn is None:
        raise FieldProblems(problems)
    return ReservationGroup(arn=arn) if head == "group" else TrainingPlan(arn=arn)


def _reservations(head: str, value: dict[str, Any], problems: list[Problem]) -> Capacity | Blocks:
    ids = _part(problems, head, value, _ids if head == "reservations" else lambda found: [_id(found)])
    kind = _part(problems, "kind", value, _kind) if "kind" in value else "odcr"
    extra = {
        key.replace("-", "_"): found
        for key, read in _READERS.items()
        if key in value and (found := _part(problems, key, value, read)) is not None
    }
    if kind is not None:
        problems += _misplaced(kind, head, value)
    if problems or ids is None or kind is None:
        raise FieldProblems(problems)
    try:
        made = tuple(KINDS[kind](reservation_id=id, **extra) for id in ids)
    except ValueError as error:
        raise FieldProblems([Problem(path=("instances",), message=str(error))]) from None
    return made[0] if head == "reservation" else Blocks(blocks=made)


def _misplaced(kind: str, head: str, value: dict[str, Any]) -> list[Problem]:
    blocks = ("capacity-block", "ultraserver")
    problems = []
    if head == "reservations" and kind not in blocks:
        message = "lists Capacity Blocks, each of which becomes a node group; write kind: capacity-block or ultraserver"
        problems.append(Problem(path=(head,), at_key=True, message=message))
    for key in _OF_A_BLOCK:
        if key in value and kind not in blocks:
            message = (
                f"belongs to a Capacity Block: a reservation of the kind {kind} neither begins nor ends; remove it"
            )
            problems.append(Problem(path=(key,), at_key=True, message=message))
    if "placement-group" in value and kind != "odcr":
        message = f"belongs to an ODCR, which may be made in a placement group; the kind {kind} has none; remove it"
        problems.append(Problem(path=("placement-group",), at_key=True, message=message))
    return problems


def _kind(value: object) -> str:
    if value in ("spot", "on-demand"):
        raise ValueError(f"{value} buys without a reservation; write capacity: {value}, or the kind of the reservation")
    return one_of(value, KINDS, "a kind of reservation")


def _id(value: object) -> str:
    return _checked(text(value, "the id of a reservation, cr-..."), check_reservation_id)


def _ids(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be a list of ids, as in [cr-..., cr-...], got {shown(value)}")
    problems, ids = [], []
    for index, item in enumerate(value):
        try:
            ids.append(_id(item))
            if ids.index(ids[-1]) != index:
                raise ValueError(f"{ids[-1]} is in the list twice; remove one")
        except ValueError as error:
            problems.append(Problem(path=(index,), message=str(error)))
            ids.append("")
    if problems:
        raise FieldProblems(problems)
    return ids


def read_end(value: object) -> datetime:
    """When a Capacity Block ends: a day, which means 11:30 UTC, or a time with its zone.

    Raises:
        ValueError: When it is neither.
    """
    what = "a day, as in 2026-12-24, or a time with its zone, as in 2026-12-24T11:30:00Z"
    found = text(value, what)
    if not _TIME.fullmatch(found):
        raise ValueError(f"must be {what}, got {shown(found)}")
    try:
        day = len(found) == len("2026-12-24")
        read = datetime.fromisoformat(found)
        end = datetime.combine(read, BLOCKS_END) if day else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"must be {what}, got {shown(found)}, which is in no calendar") from None
    if end.year not in _YEARS:
        raise ValueError(f"must be {what}, got {shown(found)}, when no Capacity Block ends")
    return end


_READERS: dict[str, Callable[[Any], Any]] = {
    "instances": count,
    "ends": read_end,
    "active": flag,
    "placement-group": placement_group_name,
}


def _part(problems: list[Problem], key: str, value: dict[str, Any], read: Callable[[Any], Any]) -> Any:
    try:
        return read(value[key])
    except FieldProblems as error:
        problems += [Problem(path=(key, *part.path), message=part.message) for part in error.problems]
    except ValueError as error:
        problems.append(Problem(path=(key,), message=str(error)))
    return None


def _checked(found: str, check: Callable[[str], list[str]]) -> str:
    if problems := check(found):
        raise ValueError(problems[0])
    return found
