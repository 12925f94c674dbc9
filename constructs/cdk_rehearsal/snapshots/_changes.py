"""Difference of two sets of templates, resource by resource."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Templates = Mapping[str, Mapping[str, Any]]
_MISSING = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """Difference of one resource, or of one entry of another section.

    Args:
        stack: Name of the stack, empty for a single template.
        section: Section of the template: Resources, Outputs, ...
        logical_id: Logical id, or key of the section.
        type: Resource type, empty for other sections.
        path: Construct path, empty if it is not known.
        effects: What a deployment does beyond an update in place, most severe first: "replaced: SubnetIds: ...".
        differences: Property path, old and new value; None for a value that is not set. Empty if only a resource
            that this one refers to differs.
    """

    stack: str
    section: str
    logical_id: str
    type: str
    path: str
    effects: tuple[str, ...]
    differences: tuple[tuple[str, Any, Any], ...]


def changes(
    old: Templates,
    new: Templates,
    *,
    paths: Mapping[str, Mapping[str, str]] | None = None,
    update_rules: Any = None,
    nested: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> list[Change]:
    """Compare templates, by stack name.

    Args:
        old: The templates of the snapshots.
        new: The templates of the app.
        paths: Stack -> logical id -> construct path.
        update_rules: Resource type -> rules for updates that its service rejects, beyond the facts of the registry.
        nested: Stack and logical id of nested stacks -> names of their templates.
    """
    effects = _effects(old, new, update_rules, nested)
    result = []
    for stack in dict.fromkeys((*old, *new)):
        before, after = old.get(stack, {}), new.get(stack, {})
        for section in dict.fromkeys((*before, *after)):
            indirect = [key for name, key in effects if name == stack] if section == "Resources" else []
            for key, first, second in _entries(section, before.get(section, {}), after.get(section, {}), indirect):
                resource = first if isinstance(first, Mapping) else second if isinstance(second, Mapping) else {}
                is_resource = section == "Resources"
                result.append(
                    Change(
                        stack=stack,
                        section=section,
                        logical_id=key,
                        type=str(resource.get("Type", "")) if is_resource else "",
                        path=(paths or {}).get(stack, {}).get(key, ""),
                        effects=effects.get((stack, key), ()) if is_resource else (),
                        differences=tuple(differences(first, second)),
                    )
                )
    return sorted(result, key=lambda change: not change.effects)


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, old value and new value of each difference; None for a value that is not set."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            below = f"{path}.{key}" if path else str(key)
            yield from differences(old.get(key, _MISSING), new.get(key, _MISSING), below)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from differences(first, second, f"{path}.{index}")
    elif isinstance(old, list) and isinstance(new, list):
        removed, added = _only_in(old, new), _only_in(new, old)
        yield path, removed or (None if added else old), added or (None if removed else new)
    elif old is _MISSING or new is _MISSING or type(old) is not type(new) or old != new:
        yield path, None if old is _MISSING else old, None if new is _MISSING else new


def _entries(section: str, old: Any, new: Any, indirect: Collection[str]) -> Iterator[tuple[str, Any, Any]]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new:
            yield section, old or None, new or None
        return
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key) or key in indirect:
            yield key, old.get(key), new.get(key)


def _only_in(items: list[Any], others: list[Any]) -> list[Any]:
    left = [json.dumps(other, sort_keys=True) for other in others]
    result = []
    for item in items:
        text = json.dumps(item, sort_keys=True)
        if text in left:
            left.remove(text)
        else:
            result.append(item)
    return result


def _effects(
    old: Templates, new: Templates, update_rules: Any, nested: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], tuple[str, ...]]:
    try:
        from cdk_rehearsal import guard
        from cdk_rehearsal.registry import NO_RULES
    except ImportError:
        return {}
    try:
        causes = guard.causes(old, new, update_rules=update_rules or NO_RULES, nested=nested)
    except guard.GuardError:
        # One side is not a template, such as a snapshot of logical ids.
        return {}
    order = list(guard.Fate)
    result = {}
    for (stack, logical_id), reasons in causes.items():
        lines: dict[str, int] = {}
        for cause in reasons:
            if cause.fate.ends_nodes or cause.fate.harmful:
                lines.setdefault(f"{cause.fate}: {cause.property}: {cause.reason}", order.index(cause.fate))
        if lines:
            result[stack, logical_id] = tuple(sorted(lines, key=lambda line: -lines[line]))
    return result
