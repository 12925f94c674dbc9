"""Replacements as CloudFormation's change sets report them: True, Conditional or False."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cdk_rehearsal.guard._report import Cause, Fate
from cdk_rehearsal.guard._world import Place

#: Stack -> changes of its change set, each a `ResourceChange` of CloudFormation's API.
ChangeSets = Mapping[str, Sequence[Mapping[str, Any]]]

_ORDER = list(Fate)
_REPLACED = "CloudFormation's change set has Replacement True"
_CONDITIONAL = "CloudFormation's change set has Replacement Conditional, whatever other resources do"
_DYNAMIC = "CloudFormation's change set has the action Dynamic: what happens is decided in the deployment"


def replacements(change_sets: ChangeSets) -> dict[Place, str]:
    """Return the Replacement of each modified resource."""
    return {
        (stack, change["LogicalResourceId"]): str(change.get("Replacement", ""))
        for stack, changes in change_sets.items()
        for change in changes
        if change["Action"] == "Modify"
    }


def with_change_sets(
    causes: Mapping[Place, tuple[Cause, ...]], change_sets: ChangeSets
) -> dict[Place, tuple[Cause, ...]]:
    """Add what change sets report, where that is worse than what the templates show.

    Conditional is not always worse. It is where the property itself may replace the resource. Where the value comes
    from another resource that is updated, CloudFormation assumes that the value may change; the comparison of the
    templates shows which values of an updated resource stay.
    """
    result = dict(causes)
    for stack, changes in change_sets.items():
        for change in changes:
            place = (stack, change["LogicalResourceId"])
            if place not in result:
                continue
            worst = max((_ORDER.index(cause.fate) for cause in result[place]), default=-1)
            result[place] += tuple(cause for cause in _causes(change) if _ORDER.index(cause.fate) > worst)
    return result


def _causes(change: Mapping[str, Any]) -> Iterator[Cause]:
    if change["Action"] == "Dynamic":
        yield Cause(fate=Fate.UNKNOWN, property="-", reason=_DYNAMIC)
    if change["Action"] != "Modify":
        return
    names = [*_names(change, "Always"), *_names(change, "Conditionally")]
    if change.get("Replacement") == "True":
        yield Cause(fate=Fate.REPLACED, property=", ".join(names) or "-", reason=_REPLACED)
    elif change.get("Replacement") == "Conditional" and (paths := _names(change, "Conditionally")):
        yield Cause(fate=Fate.UNKNOWN, property=", ".join(paths), reason=_CONDITIONAL)


def _names(change: Mapping[str, Any], recreation: str) -> list[str]:
    """Return the properties whose change requires recreation in this way."""
    targets = [detail.get("Target", {}) for detail in change.get("Details", [])]
    return sorted(
        {str(target.get("Name", "-")) for target in targets if target.get("RequiresRecreation") == recreation}
    )
