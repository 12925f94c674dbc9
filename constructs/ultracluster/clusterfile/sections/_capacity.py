"""The capacity of nodes: purchase options and reservations."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from ultracluster.catalogue.ec2 import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.clusterfile._problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.sections import _common as t
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._placement import PlacementGroupName
from ultracluster.clusterfile.sections._section import Section
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
# Keys of each kind of reservation, and of each other form, beside those of all.
_TIMES = {
    "capacity-block": {"starts", "ends", "active"},
    "ultraserver": {"starts", "ends", "active"},
    "odcr": {"starts", "ends", "active"},
    "training-plan": {"starts", "ends"},
}
_WORDS: dict[str, CapacityValue] = {"on-demand": OnDemand(), "spot": Spot()}
_HEADS = ("reservation", "reservations", "group", "training-plan")
_FORMS = (
    "on-demand, spot, cr-..., {reservation: cr-..., kind: odcr | capacity-block | ultraserver | interruptible}, "
    "{reservations: [cr-..., cr-...], kind: capacity-block | ultraserver}, {reservation: open}, {group: ARN}, "
    "{training-plan: ARN}"
)
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (read 2026-11-20)
BLOCKS_END = time(11, 30, tzinfo=UTC)
# EC2 began to sell them in 2023; a schedule's year has four digits.
_YEARS = range(2023, 2100)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """Several Capacity Blocks of one kind, each of which becomes a node group."""

    blocks: tuple[Block, ...]


_ID = w.checked(check_reservation_id, "the id of a reservation, cr-...", r"^cr-[0-9a-f]{17}$", "cr-0123456789abcdef0")


def _kind(value: object) -> str:
    if value in ("spot", "on-demand"):
        raise ValueError(f"{value} has no reservation; write capacity: {value}, or the kind of the reservation")
    return w.one_of(value, _KINDS, "a kind of reservation")


def _word(value: object) -> CapacityValue:
    if not isinstance(value, str):
        raise ValueError(f"must be one of {_FORMS}; got {shown(value)}")
    if value in _WORDS:
        return _WORDS[value]
    if value.startswith("cr-"):
        return TargetedReservation(reservation_id=_ID.parse(value))
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
            return {"training-plan": capacity.arn} | _write_times(capacity)
        case Blocks():
            first = write_capacity(capacity.blocks[0])
            assert isinstance(first, dict)
            del first["reservation"]
            return {"reservations": [block.reservation_id for block in capacity.blocks], **first}
    written: dict[str, Any] = {"reservation": capacity.reservation_id}
    written["kind"] = next(kind for kind, value in _KINDS.items() if isinstance(capacity, value))
    extra = {
        "instances": capacity.instances,
        **_write_times(capacity),
        "active": getattr(capacity, "active", False) or None,
        "placement-group": getattr(capacity, "placement_group", None),
    }
    return written | {key: value for key, value in extra.items() if value is not None}


def _write_times(capacity: CapacityValue) -> dict[str, str]:
    times = {name: getattr(capacity, name, None) for name in ("starts", "ends")}
    return {name: time.isoformat().replace("+00:00", "Z") for name, time in times.items() if time is not None}


def _end(value: object) -> datetime:
    what = "a day, as in 2026-12-24, or a time with its zone, as in 2026-12-24T11:30:00Z"
    text = w.matching(value, _TIME, what)
    try:
        day = len(text) == len("2026-12-24")
        time = datetime.fromisoformat(text)
        end = datetime.combine(time, BLOCKS_END) if day else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"must be {what}, got {shown(text)}, which is in no calendar") from None
    if end.year not in _YEARS:
        raise ValueError(f"must be {what}, got {shown(text)}, when no Capacity Block begins or ends")
    return end


_OPEN = w.Word(
    lambda value: value if value == "open" else _ID.parse(value),
    anyOf=[{"const": "open"}, _ID.schema],
    example="cr-...",
)
ReservationId = Annotated[str, _ID]
Kind = Annotated[str, w.Word(_kind, enum=list(_KINDS), example="capacity-block")]
End = Annotated[datetime, w.parsed(_end, _TIME, "2026-12-24")]


GroupArn = Annotated[str, w.checked(check_group_arn, "an ARN", "^arn:aws[a-z-]*:resource-groups:")]
TrainingPlanArn = Annotated[str, w.checked(check_training_plan_arn, "an ARN", "^arn:aws[a-z-]*:sagemaker:")]


class Reserved(Section):
    """A reservation, several Capacity Blocks, a group of reservations, or a training plan."""

    model_config = ConfigDict(
        json_schema_extra={
            "allOf": [
                {"oneOf": [{"required": [head]} for head in _HEADS]},
                {
                    "if": {"properties": {"kind": {"const": "capacity-block"}}, "required": ["kind"]},
                    "then": {"properties": {"instances": {"maximum": INSTANCES_PER_CAPACITY_BLOCK}}},
                },
                {
                    "if": {"required": ["reservations"]},
                    "then": {"properties": {"kind": {"enum": list(_BLOCK_KINDS)}}, "required": ["kind"]},
                },
            ],
        }
    )

    reservation: Annotated[str, _OPEN] | None = Field(
        default=None, description="Id of a reservation; open: every open one that matches."
    )
    reservations: w.Several[ReservationId] | None = Field(
        default=None, description="Ids of Capacity Blocks of one kind and size, each of which becomes a node group."
    )
    group: GroupArn | None = Field(default=None, description="ARN of a resource group of reservations.")
    training_plan: TrainingPlanArn | None = Field(
        default=None, description="ARN of a SageMaker training plan: HyperPod only."
    )
    kind: Kind = Field(default="odcr", description="Kind of the reservation.")
    instances: t.Count | None = Field(default=None, description="Number of instances of the reservation.")
    starts: End | None = Field(
        default=None,
        description="Start of a Capacity Block, of a future-dated ODCR, or of a training plan: a day, which means "
        "11:30 UTC, or a time with its zone. Nodes of Kubernetes start then; without it those of a block wait for "
        "`active`. Alerts expect no nodes before.",
    )
    ends: End | None = Field(
        default=None,
        description="End of a Capacity Block, of an ODCR that expires, or of a training plan: a day, which means 11:30 "
        "UTC, or a time with its zone. Alerts expect no nodes after it. Those of an ODCR run on, on demand.",
    )
    active: t.Flag = Field(
        default=False, description="The capacity has begun: nodes of Kubernetes, which wait at zero, start."
    )
    placement_group: PlacementGroupName | None = Field(
        default=None, description="Placement group that an ODCR was created in."
    )

    def capacity(self) -> CapacityValue | Blocks:
        """Return the capacity.

        Raises:
            ValueError: If keys do not go together.
        """
        given = {name.replace("_", "-") for name in self.model_fields_set}
        heads = [key for key in _HEADS if key in given]
        if len(heads) != 1:
            value_shown = f"got {' and '.join(heads)}" if heads else "got none of them"
            raise ValueError(f"needs one of {', '.join(_HEADS)}, {value_shown}; the forms are {_FORMS}")
        if wrong := self._misplaced(heads[0], given):
            raise FieldProblems([Problem(path=(key,), message=text, at_key=True) for key, text in wrong.items()])
        if self.group:
            return ReservationGroup(arn=self.group)
        if self.reservation == "open":
            return OpenReservation(placement_group=self.placement_group)
        names = self.model_fields_set - {"reservation", "reservations", "training_plan", "kind"}
        extra = {name: getattr(self, name) for name in names}
        ids = self.reservations or (self.reservation,)
        try:
            if self.training_plan:
                return TrainingPlan(arn=self.training_plan, **extra)
            blocks = tuple(_KINDS[self.kind](reservation_id=id, **extra) for id in ids)
        except ValueError as error:
            key = next((key for key in ("starts", "ends") if f"{key} must" in str(error)), "instances")
            raise FieldProblems([Problem(path=(key,), message=str(error))]) from None
        return Blocks(blocks=blocks) if self.reservations else blocks[0]

    def _misplaced(self, head: str, given: set[str]) -> dict[str, str]:
        """Return the keys that the form, or the kind of the reservation, does not have, with the error."""
        if head in ("group", "training-plan") or self.reservation == "open":
            owner = "an open reservation" if head == "reservation" else f"a {head}"
            keys = given - {head} - ({"placement-group"} if head == "reservation" else _TIMES.get(head, set()))
            return dict.fromkeys(keys, f"belongs to a reservation that is named, not to {owner}; remove it")
        wrong = {}
        if self.kind not in _BLOCK_KINDS:
            kinds = " or ".join(_BLOCK_KINDS)
            block_keys = sorted(given & {"starts", "ends", "active"})
            if "kind" in given:
                message = f"belongs to a Capacity Block: a reservation of the kind {self.kind} neither begins nor ends"
                wrong = dict.fromkeys(sorted({*block_keys} - _TIMES.get(self.kind, set())), f"{message}; remove it")
                if "active" in given and "starts" not in given and not wrong:
                    wrong["active"] = "belongs to a reservation that starts later: write starts, or remove it"
            elif block_keys and "active" not in block_keys:
                message = (
                    f"belongs to what starts later, or ends: write kind: {kinds}, or kind: odcr if this is an ODCR"
                )
                wrong = dict.fromkeys(block_keys[:1], message)
            else:
                message = f"belongs to a Capacity Block: write kind: {kinds}, or remove it if this is an ODCR"
                wrong = dict.fromkeys(block_keys[:1], message)
            if head == "reservations":
                wrong[head] = f"lists Capacity Blocks, each of which becomes a node group; write kind: {kinds}"
        if "placement-group" in given and self.kind != "odcr":
            message = "belongs to an ODCR, which may be created in a placement group"
            wrong["placement-group"] = f"{message}; the kind {self.kind} has none; remove it"
        return wrong


_WORD = w.Word(
    _word,
    write_capacity,
    anyOf=[
        {"enum": list(_WORDS), "description": "Purchase option."},
        {**_ID.schema, "description": "On-demand capacity reservation (ODCR)."},
    ],
)
Capacity = Annotated[CapacityValue | Blocks, Either(_WORD, Reserved, Reserved.capacity)]
