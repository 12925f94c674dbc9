"""How a cluster file says that nodes are bought."""

from typing import Any

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers import count, did_you_mean, one_of, text
from ultracluster.hardware.quotas import INSTANCES_PER_CAPACITY_BLOCK
from ultracluster.planning import (
    Capacity,
    CapacityBlock,
    OnDemand,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)
from ultracluster.planning.capacity import (
    ULTRASERVER_INSTANCES,
    check_group_arn,
    check_reservation_id,
    check_training_plan_arn,
)

KINDS = ("odcr", "capacity-block", "ultraserver")
_WORDS: dict[str, Capacity] = {"on-demand": OnDemand(), "spot": Spot()}
_KEYS = ("reservation", "kind", "instances", "group", "training-plan")
_FORMS = (
    "on-demand, spot, cr-..., {reservation: cr-..., kind: odcr | capacity-block | ultraserver}, {group: ARN}, "
    "{training-plan: ARN}"
)


def read_capacity(value: object) -> Capacity:
    """Read the `capacity` of a node group.

    Raises:
        ValueError: When it is none of the forms; a `FieldProblems` when parts of it are wrong.
    """
    if isinstance(value, dict):
        return _from_mapping(value)
    if not isinstance(value, str):
        raise ValueError(f"must be one of {_FORMS}; got {shown(value)}")
    if value in _WORDS:
        return _WORDS[value]
    if value.startswith("cr-"):
        if problems := check_reservation_id(value):
            raise ValueError(problems[0])
        return TargetedReservation(reservation_id=value)
    if value.startswith("arn:"):
        key = "training-plan" if ":training-plan/" in value else "group"
        raise ValueError(f"an ARN is written as {{{key}: ARN}}, got {shown(value)}")
    hint = did_you_mean(value, [*_WORDS, *KINDS])
    if value in KINDS or any(f"mean {kind}?" in hint for kind in KINDS):
        hint = "a reservation is written as {reservation: cr-..., kind: " + (value if value in KINDS else "...") + "}; "
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}; {hint}".rstrip("; "))


def _from_mapping(value: dict[str, Any]) -> Capacity:
    problems = [
        Problem(
            path=(key,), at_key=True, message=f"unknown key; {did_you_mean(key, _KEYS)}allowed are {', '.join(_KEYS)}"
        )
        for key in value
        if key not in _KEYS
    ]
    heads = [key for key in ("reservation", "group", "training-plan") if key in value]
    if len(heads) != 1:
        got = f"got {' and '.join(heads)}" if heads else "got none of them"
        problems.append(
            Problem(path=(), message=f"needs one of reservation, group, training-plan, {got}; the forms are {_FORMS}")
        )
        raise FieldProblems(problems)
    if heads == ["reservation"]:
        return _reservation(value, problems)
    problems += [
        Problem(path=(key,), at_key=True, message=f"belongs to a reservation, not to a {heads[0]}; remove it")
        for key in ("kind", "instances")
        if key in value
    ]
    check = check_group_arn if heads == ["group"] else check_training_plan_arn
    arn = _part(problems, heads[0], value, lambda found: _checked(text(found, "an ARN"), check))
    if problems or arn is None:
        raise FieldProblems(problems)
    return ReservationGroup(arn=arn) if heads == ["group"] else TrainingPlan(arn=arn)


def _reservation(value: dict[str, Any], problems: list[Problem]) -> Capacity:
    id = _part(
        problems,
        "reservation",
        value,
        lambda found: _checked(text(found, "the id of a reservation, cr-..."), check_reservation_id),
    )
    kind = (
        _part(problems, "kind", value, lambda found: one_of(found, KINDS, "a kind of reservation"))
        if "kind" in value
        else "odcr"
    )
    instances = _part(problems, "instances", value, count) if "instances" in value else None
    if problems or id is None:
        raise FieldProblems(problems)
    try:
        match kind:
            case "capacity-block":
                return CapacityBlock(reservation_id=id, instances=instances)
            case "ultraserver":
                return UltraServerBlock(reservation_id=id, instances=instances)
            case _:
                return TargetedReservation(reservation_id=id, instances=instances)
    except ValueError as error:
        raise FieldProblems([Problem(path=("instances",), message=str(error))]) from None


def _part(problems: list[Problem], key: str, value: dict[str, Any], read: Any) -> Any:
    try:
        return read(value[key])
    except ValueError as error:
        problems.append(Problem(path=(key,), message=str(error)))
        return None


def _checked(found: str, check: Any) -> str:
    if problems := check(found):
        raise ValueError(problems[0])
    return found


def schema() -> dict[str, Any]:
    """The JSON schema of a `capacity`."""
    return {
        "description": "How the nodes are bought.",
        "anyOf": [
            {"enum": list(_WORDS), "description": "Bought as they start."},
            {
                "type": "string",
                "pattern": "^cr-[0-9a-f]{17}$",
                "description": "An on-demand capacity reservation (ODCR).",
            },
            {
                "type": "object",
                "description": "A reservation, its kind, and how many instances it holds.",
                "properties": {
                    "reservation": {"type": "string", "pattern": "^cr-[0-9a-f]{17}$"},
                    "kind": {"enum": list(KINDS), "default": "odcr"},
                    "instances": {"type": "integer", "minimum": 1},
                },
                "required": ["reservation"],
                "additionalProperties": False,
                "allOf": [
                    _instances("capacity-block", {"maximum": INSTANCES_PER_CAPACITY_BLOCK}),
                    _instances("ultraserver", {"enum": list(ULTRASERVER_INSTANCES)}),
                ],
            },
            {
                "type": "object",
                "description": "A resource group of reservations.",
                "properties": {"group": {"type": "string", "pattern": "^arn:aws[a-z-]*:resource-groups:"}},
                "required": ["group"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "description": "A SageMaker training plan: HyperPod only.",
                "properties": {"training-plan": {"type": "string", "pattern": "^arn:aws[a-z-]*:sagemaker:"}},
                "required": ["training-plan"],
                "additionalProperties": False,
            },
        ],
    }


def _instances(kind: str, bound: dict[str, Any]) -> dict[str, Any]:
    when = {"properties": {"kind": {"const": kind}}, "required": ["kind"]}
    return {"if": when, "then": {"properties": {"instances": bound}}}
