"""Updates that a service rejects, although the registry schema allows them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.registry._normal import values
from cdk_rehearsal.registry._replacement import LEAST_GROWTH_PERCENT, ONLY_GROWS, UNCHANGEABLE, UpdateFact

#: Plug-in for one resource type. It takes the properties before and after an update, with scalars as text
#: ("43200", "true"), and returns the properties whose change the service rejects, each with the reason.
UpdateRule = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, str]]

#: Resource type -> its update rules.
UpdateRules = Mapping[str, Sequence[UpdateRule]]

NO_RULES: UpdateRules = MappingProxyType({})

_UNKNOWN = "the template does not show whether it grows"


def rejections(
    type_name: str, old: Mapping[str, Any], new: Mapping[str, Any], update_rules: UpdateRules
) -> dict[str, str]:
    """Return the properties whose change the service rejects, with the reason. Properties are in normal form."""
    result: dict[str, str] = {}
    for fact in UNCHANGEABLE.get(type_name, ()):
        if _applies(fact, old) and at(old, fact.path) != at(new, fact.path):
            result.setdefault(fact.path, fact.reason)
    for fact in ONLY_GROWS.get(type_name, ()):
        before, after = at(old, fact.path), at(new, fact.path)
        if _applies(fact, old) and None not in (before, after) and before != after:
            first, second = _parts(before), _parts(after)
            if not first or not second:
                result.setdefault(fact.path, f"{fact.reason}, and {_UNKNOWN}")
            elif second < first:
                result.setdefault(fact.path, f"{fact.reason}: from {before} to {after} it would shrink")
    builtin: Sequence[UpdateRule] = (_grows_too_little,) if type_name == "AWS::FSx::FileSystem" else ()
    for rule in (*builtin, *update_rules.get(type_name, ())):
        for path, reason in rule(old, new).items():
            result.setdefault(path, reason)
    return result


def at(properties: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None."""
    return next(values(properties, path.split(".")), None)


def _grows_too_little(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    before, after = (_parts(at(properties, "StorageCapacity")) for properties in (old, new))
    percent = LEAST_GROWTH_PERCENT.get(str(at(new, "FileSystemType")))
    if percent is None or not before or not after or after <= before:
        return {}
    least = -(-before[0] * (100 + percent) // 100)
    if after[0] >= least:
        return {}
    return {
        "StorageCapacity": f"it grows by {percent} % or more at a time: from {before[0]:,} to {least:,} GiB at least"
    }


def _applies(fact: UpdateFact, old: Mapping[str, Any]) -> bool:
    """Return whether a fact applies; an unresolved intrinsic may have any value."""
    pairs = ((at(old, path), expected) for path, expected in fact.only_if.items())
    return all(value in expected or not isinstance(value, str | dict | None) for value, expected in pairs)


def _parts(value: Any) -> tuple[int, ...]:
    """Convert "43200" to (43200,) and "2.15" to (2, 15); empty if it is neither a number nor a version."""
    parts = value.split(".") if isinstance(value, str) else []
    return tuple(map(int, parts)) if parts and all(part.isdecimal() and len(part) < 20 for part in parts) else ()
