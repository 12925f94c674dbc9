"""The placement group of nodes."""

from typing import Annotated

from pydantic import Field

from ultracluster.clusterfile._problems import shown
from ultracluster.clusterfile.sections import _word as w
from ultracluster.clusterfile.sections._either import Either
from ultracluster.clusterfile.sections._section import Section
from ultracluster.planning.capacity import STRATEGIES, NamedGroup, PlacementOption, Strategy

_STRATEGIES: dict[str, Strategy] = {strategy: strategy for strategy in STRATEGIES}
_WORDS: dict[str, PlacementOption] = {"auto": "auto", **_STRATEGIES, "none": None}
_FORMS = f"{', '.join(_WORDS)}, or the name of an existing group as {{name: NAME}}"
# Up to 255 ASCII characters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreatePlacementGroup.html
# (read 2026-11-21); ours is what needs no quotes anywhere.
_NAME = r"[A-Za-z0-9][A-Za-z0-9 ._/-]{0,254}"
PlacementGroupName = Annotated[str, w.pattern(_NAME, "the name of a placement group", "training")]


class ExistingPlacementGroup(Section):
    """An existing placement group."""

    name: PlacementGroupName = Field(description="Its name.")


def _word(value: object) -> PlacementOption:
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    hint = ""
    if isinstance(value, bool):
        hint = f"; write {'auto' if value else 'none'}"
    elif isinstance(value, str):
        hint = f"; {w.did_you_mean(value, _WORDS) or 'an existing group is written as {name: NAME}'}".rstrip()
    raise ValueError(f"must be one of {_FORMS}; got {shown(value)}{hint}")


def write_placement(requested: PlacementOption) -> str | dict[str, str]:
    """Return a placement group as a cluster file writes it."""
    return {"name": requested.name} if isinstance(requested, NamedGroup) else requested or "none"


PlacementGroup = Annotated[
    PlacementOption,
    Either(
        w.Word(_word, write_placement, enum=list(_WORDS)),
        ExistingPlacementGroup,
        lambda group: NamedGroup(name=group.name),
    ),
]
