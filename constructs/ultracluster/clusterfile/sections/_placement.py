"""The placement group of nodes."""

import re
from typing import Annotated, Any

from ultracluster.clusterfile._problems import Collector, shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.planning.capacity import STRATEGIES, NamedGroup, PlacementOption, Strategy

_STRATEGIES: dict[str, Strategy] = {strategy: strategy for strategy in STRATEGIES}
_WORDS: dict[str, PlacementOption] = {"auto": "auto", **_STRATEGIES, "none": None}
_FORMS = f"{', '.join(_WORDS)}, or the name of an existing group as {{name: NAME}}"
# Up to 255 ASCII characters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
# (read 2026-11-21); ours is what needs no quotes anywhere.
NAME = w.pattern(re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,254}", re.ASCII), "the name of a placement group")


def read_placement(value: object) -> PlacementOption:
    """Parse the `placement-group` of a node group.

    Raises:
        ValueError: If it has no known form.
    """
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, dict):
        errors = Collector()
        named = w.parts(value, {"name": NAME.parse}, errors)
        if "name" not in value:
            errors.add((), "needs the name of the group: {name: NAME}")
        return NamedGroup(**errors.result(named))
    hint = ""
    if isinstance(value, bool):
        hint = f"; write {'auto' if value else 'none'}"
    elif isinstance(value, str):
        hint = f"; {w.did_you_mean(value, _WORDS) or 'an existing group is written as {name: NAME}'}".rstrip()
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}{hint}")


def write_placement(requested: PlacementOption) -> str | dict[str, str]:
    """Return a placement group as a cluster file writes it."""
    return {"name": requested.name} if isinstance(requested, NamedGroup) else requested or "none"


_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"enum": list(_WORDS)},
        {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 255}},
            "required": ["name"],
            "additionalProperties": False,
        },
    ]
}
PlacementGroup = Annotated[PlacementOption, w.Word(read_placement, write_placement, **_SCHEMA)]
