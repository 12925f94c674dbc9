"""The capacity of nodes: how they are bought."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated, Any

from ultracluster.catalogue.ec2 import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.clusterfile._problems import Collector, shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._placement import NAME
from ultracluster.planning.capacity import (
    Block,
    CapacityBlock,
    InterruptibleReservation,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
    check_group_arn,
    check_reservation_id,
    check_training_plan_arn,
)
from ultracluster.planning.capacity import Capacity as CapacityValue

_KINDS = {
    "odcr": TargetedReservation,
    "capacity-block": CapacityBlock,
    "ultraserver": UltraServerBlock,
    "interruptible": InterruptibleReservation,
}
_BLOCK_KINDS = ("capacity-block", "ultraserver")
_WORDS: dict[str, CapacityValue] = {"on-demand": OnDemand(), "spot": Spot()}
_HEADS = ("reservation", "reservations", "group", "training-plan")
_OF_A_BLOCK = ("ends", "active")
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
    """Several Capacity Blocks of one kind, each of which becomes a node group.

    Args:
        blocks: At least one.
    """

    blocks: tuple[Block, ...]


def read_capacity(value: object) -> CapacityValue | Blocks:
    """Parse the `capacity` of a node group.

    Raises:
        ValueError: If it has no known form; a `FieldProblems` if parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, str):
        raise ValueError(f"must be one of {_FORMS}; got {shown(value)}")
    if value in _WORDS:
        return _WORDS[value]
    if value.startswith("cr-"):
        return TargetedReservation(reservation_id=_checked(value, check_reservation_id))
    if value.startswith("arn:"):
        key = "training-plan" if ":training-plan/" in value else "group"
        raise ValueError(f"an ARN is written as {{{key}: ARN}}, got {shown(value)}")
    hint = w.did_you_mean(value, [*_WORDS, *_KINDS])
    if value in _KINDS or any(f"mean {kind}?" in hint for kind in _KINDS):
        hint = (
            "a reservation is written as {reservation: cr-..., kind: " + (value if value in _KINDS else "...") + "}; "
        )
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}; {hint}".rstrip("; "))


def write_capacity(capacity: CapacityValue | Blocks) -> str | dict[str, Any]:
    """Return a capacity as a cluster file writes it."""
    match capacity:
        case OnDemand() | Spot():
            return capacity.word
        case OpenReservation():
            group = capacity.placement_group
            return {"reservation": "open"} | ({"placement-group": group} if group is not None else {})
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
    written["kind"] = next(kind for kind, value in _KINDS.items() if isinstance(capacity, value))
    ends = getattr(capacity, "ends", None)
    extra = {
        "instances": capacity.instances,
        "ends": ends and ends.isoformat().replace("+00:00", "Z"),
        "active": getattr(capacity, "active", False) or None,
        "placement-group": getattr(capacity, "placement_group", None),
    }
    return written | {key: value for key, value in extra.items() if value is not None}


def _from_mapping(value: dict[str, Any]) -> CapacityValue | Blocks:
    errors = Collector()
    # Which keys there may be; their values are parsed below, as the head requires.
    w.parts(value, dict.fromkeys((*_HEADS, "kind", "instances", *_OF_A_BLOCK, "placement-group"), str), errors)
    heads = [key for key in _HEADS if key in value]
    if len(heads) != 1:
        got = f"got {' and '.join(heads)}" if heads else "got none of them"
        errors.add((), f"needs one of {', '.join(_HEADS)}, {got}; the forms are {_FORMS}")
        return errors.result(OnDemand())
    head = heads[0]
    if head == "reservations" or (head == "reservation" and value[head] != "open"):
        return _reservations(head, value, errors)
    whose = "an open reservation" if head == "reservation" else f"a {head}"
    for key in ("kind", "instances", *_OF_A_BLOCK, "placement-group"):
        if key in value and (head, key) != ("reservation", "placement-group"):
            errors.add((key,), f"belongs to a reservation that is named, not to {whose}; remove it", at_key=True)
    if head == "reservation":
        group = value.get("placement-group")
        group = errors.parse(("placement-group",), NAME.parse, group) if "placement-group" in value else None
        return errors.result(OpenReservation(placement_group=group))
    check = check_group_arn if head == "group" else check_training_plan_arn
    arn = errors.parse((head,), lambda text: _checked(w.text(text, "an ARN"), check), value[head])
    errors.result(arn)
    return ReservationGroup(arn=arn) if head == "group" else TrainingPlan(arn=arn)


def _reservations(head: str, value: dict[str, Any], errors: Collector) -> CapacityValue | Blocks:
    ids = errors.parse((head,), _ids if head == "reservations" else lambda text: [_id(text)], value[head])
    kind = errors.parse(("kind",), _kind, value["kind"]) if "kind" in value else "odcr"
    extra = {
        key.replace("-", "_"): part
        for key, parse in _READERS.items()
        if key in value and (part := errors.parse((key,), parse, value[key])) is not None
    }
    if kind is not None:
        _check_places(kind, head, value, errors)
    errors.result(None)
    result = errors.parse(
        ("instances",), lambda ids: tuple(_KINDS[kind](reservation_id=id, **extra) for id in ids), ids
    )
    errors.result(result)
    reservation: CapacityValue = result[0]
    return reservation if head == "reservation" else Blocks(blocks=result)


def _check_places(kind: str, head: str, value: dict[str, Any], errors: Collector) -> None:
    if head == "reservations" and kind not in _BLOCK_KINDS:
        message = "lists Capacity Blocks, each of which becomes a node group; write kind: capacity-block or ultraserver"
        errors.add((head,), message, at_key=True)
    for key in _OF_A_BLOCK:
        if key in value and kind not in _BLOCK_KINDS:
            message = (
                f"belongs to a Capacity Block: a reservation of the kind {kind} neither begins nor ends; remove it"
            )
            errors.add((key,), message, at_key=True)
    if "placement-group" in value and kind != "odcr":
        message = f"belongs to an ODCR, which may be made in a placement group; the kind {kind} has none; remove it"
        errors.add(("placement-group",), message, at_key=True)


def _kind(value: object) -> str:
    if value in ("spot", "on-demand"):
        raise ValueError(f"{value} buys without a reservation; write capacity: {value}, or the kind of the reservation")
    return w.one_of(value, _KINDS, "a kind of reservation")


def _id(value: object) -> str:
    return _checked(w.text(value, "the id of a reservation, cr-..."), check_reservation_id)


def _ids(value: object) -> list[str]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"must be a list of ids, as in [cr-..., cr-...], got {shown(value)}")
    errors = Collector()
    ids: list[str] = []
    for index, item in enumerate(value):
        id = errors.parse((index,), _id, item)
        if id is not None and id in ids:
            errors.add((index,), f"{id} is in the list twice; remove one")
        ids.append(id or "")
    return errors.result(ids)


def read_end(value: object) -> datetime:
    """Parse the end of a Capacity Block: a day, which means 11:30 UTC, or a time with its zone.

    Raises:
        ValueError: If it is neither.
    """
    what = "a day, as in 2026-12-24, or a time with its zone, as in 2026-12-24T11:30:00Z"
    text = w.matching(value, _TIME, what)
    try:
        day = len(text) == len("2026-12-24")
        read = datetime.fromisoformat(text)
        end = datetime.combine(read, BLOCKS_END) if day else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"must be {what}, got {shown(text)}, which is in no calendar") from None
    if end.year not in _YEARS:
        raise ValueError(f"must be {what}, got {shown(text)}, when no Capacity Block ends")
    return end


_READERS: dict[str, Callable[[Any], Any]] = {
    "instances": w.count,
    "ends": read_end,
    "active": w.flag,
    "placement-group": NAME.parse,
}


def _checked(text: str, check: Callable[[str], list[str]]) -> str:
    if problems := check(text):
        raise ValueError(problems[0])
    return text


_ID = {"type": "string", "pattern": "^cr-[0-9a-f]{17}$"}
_GROUP = {"type": "string", "description": "Placement group that an ODCR was made in."}
_NAMED = {
    "kind": {"enum": list(_KINDS), "default": "odcr"},
    "instances": {"type": "integer", "minimum": 1},
    "ends": {
        "type": "string",
        "pattern": w.json_pattern(_TIME).replace(r"\d", "[0-9]"),
        "description": "End of a Capacity Block: a day, which means 11:30 UTC, or a time with its zone.",
    },
    "active": {
        "type": "boolean",
        "default": False,
        "description": "A Capacity Block has begun: nodes of Kubernetes, which wait at zero, start.",
    },
}


def _mapping(description: str, properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(required) or [next(iter(properties))],
        "additionalProperties": False,
        **more,
    }


def _arn(service: str) -> dict[str, str]:
    return {"type": "string", "pattern": f"^arn:aws[a-z-]*:{service}:"}


def _schema() -> dict[str, Any]:
    block = {
        "if": {"properties": {"kind": {"const": "capacity-block"}}, "required": ["kind"]},
        "then": {"properties": {"instances": {"maximum": INSTANCES_PER_CAPACITY_BLOCK}}},
    }
    ids = {"type": "array", "items": _ID, "minItems": 1, "uniqueItems": True}
    named = {"reservation": _ID, **_NAMED, "placement-group": _GROUP}
    several = {"reservations": ids, **_NAMED, "kind": {"enum": list(_BLOCK_KINDS)}}
    return {
        "anyOf": [
            {"enum": list(_WORDS), "description": "Bought as they start."},
            {**_ID, "description": "An on-demand capacity reservation (ODCR)."},
            _mapping("A reservation, its kind, and how many instances it holds.", named, allOf=[block]),
            _mapping(
                "Several Capacity Blocks of one kind and size, each of which becomes a node group.",
                several,
                "reservations",
                "kind",
                allOf=[block],
            ),
            _mapping(
                "Whatever open reservation matches.", {"reservation": {"const": "open"}, "placement-group": _GROUP}
            ),
            _mapping("A resource group of reservations.", {"group": _arn("resource-groups")}),
            _mapping("A SageMaker training plan: HyperPod only.", {"training-plan": _arn("sagemaker")}),
        ]
    }


Capacity = Annotated[CapacityValue | Blocks, w.Word(read_capacity, write_capacity, **_schema())]
