"""How a cluster file says in which placement group nodes are."""

from typing import Any

from ultracluster.clusterfile.problems import FieldProblems, Problem, shown
from ultracluster.clusterfile.readers.basic import did_you_mean
from ultracluster.clusterfile.readers.nodes import placement_group_name
from ultracluster.planning.placement import STRATEGIES, NamedGroup, PlacementWish, Strategy

_STRATEGIES: dict[str, Strategy] = {strategy: strategy for strategy in STRATEGIES}
_WORDS: dict[str, PlacementWish] = {"auto": "auto", **_STRATEGIES, "none": None}
_FORMS = f"{', '.join(_WORDS)}, or the name of a group of yours as {{name: NAME}}"


def read_placement(value: object) -> PlacementWish:
    """Read the `placement-group` of a node group.

    Raises:
        ValueError: When it is none of the forms.
    """
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, dict):
        problems = [
            Problem(path=(key,), at_key=True, message="unknown key; allowed is name") for key in value if key != "name"
        ]
        if "name" not in value:
            problems.append(Problem(path=(), message="needs the name of the group: {name: NAME}"))
        else:
            try:
                named = NamedGroup(name=placement_group_name(value["name"]))
            except ValueError as error:
                problems.append(Problem(path=("name",), message=str(error)))
        if problems:
            raise FieldProblems(problems)
        return named
    hint = ""
    if isinstance(value, bool):
        hint = f"; write {'auto' if value else 'none'}"
    elif isinstance(value, str):
        hint = f"; {did_you_mean(value, _WORDS) or 'a group of yours is written as {name: NAME}'}".rstrip()
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}{hint}")


def write_placement(wish: PlacementWish) -> str | dict[str, str]:
    """A wish as a cluster file says it."""
    if isinstance(wish, NamedGroup):
        return {"name": wish.name}
    return wish or "none"


def schema() -> dict[str, Any]:
    """The JSON schema of a `placement-group`."""
    return {
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
