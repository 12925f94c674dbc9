"""The JSON schema of a `capacity`."""

from typing import Any

from ultracluster.clusterfile.readers.capacity import KINDS, WORDS
from ultracluster.hardware.quotas import INSTANCES_PER_CAPACITY_BLOCK

_ID = {"type": "string", "pattern": "^cr-[0-9a-f]{17}$"}
_GROUP = {"type": "string", "description": "Placement group that an ODCR was made in."}
_NAMED = {
    "kind": {"enum": list(KINDS), "default": "odcr"},
    "instances": {"type": "integer", "minimum": 1},
    "ends": {
        "type": "string",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2}))?$",
        "description": "When a Capacity Block ends: a day, which means 11:30 UTC, or a time with its zone.",
    },
    "active": {
        "type": "boolean",
        "default": False,
        "description": "A Capacity Block has begun: nodes of Kubernetes, which wait at zero, start.",
    },
}


def schema() -> dict[str, Any]:
    """The JSON schema of a `capacity`."""
    block = {"if": _kind("capacity-block"), "then": _instances({"maximum": INSTANCES_PER_CAPACITY_BLOCK})}
    return {
        "description": "How the nodes are bought.",
        "anyOf": [
            {"enum": list(WORDS), "description": "Bought as they start."},
            {**_ID, "description": "An on-demand capacity reservation (ODCR)."},
            _mapping(
                "A reservation, its kind, and how many instances it holds.",
                ["reservation"],
                {
                    "reservation": _ID,
                    **_NAMED,
                    "placement-group": _GROUP,
                },
                allOf=[block],
            ),
            _mapping(
                "Several Capacity Blocks of one kind and size, each of which becomes a node group.",
                ["reservations", "kind"],
                {
                    "reservations": {"type": "array", "items": _ID, "minItems": 1, "uniqueItems": True},
                    **_NAMED,
                    "kind": {"enum": ["capacity-block", "ultraserver"]},
                },
                allOf=[block],
            ),
            _mapping(
                "Whatever open reservation matches.",
                ["reservation"],
                {"reservation": {"const": "open"}, "placement-group": _GROUP},
            ),
            _mapping(
                "A resource group of reservations.",
                ["group"],
                {"group": {"type": "string", "pattern": "^arn:aws[a-z-]*:resource-groups:"}},
            ),
            _mapping(
                "A SageMaker training plan: HyperPod only.",
                ["training-plan"],
                {"training-plan": {"type": "string", "pattern": "^arn:aws[a-z-]*:sagemaker:"}},
            ),
        ],
    }


def _mapping(description: str, required: list[str], properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }


def _kind(kind: str) -> dict[str, Any]:
    return {"properties": {"kind": {"const": kind}}, "required": ["kind"]}


def _instances(bound: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {"instances": bound}}
