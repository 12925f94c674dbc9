"""Differences between the values of one property, described, and whether they are certain."""

import json
from typing import Any, NamedTuple

from cdk_rehearsal.registry import Token, leaves, walk


class Difference(NamedTuple):
    """Difference between two values of a property in words; not sure if they may be equal in a deployment."""

    reason: str
    sure: bool


def difference(before: list[Any], after: list[Any]) -> Difference:
    """Describe how the values of a property differ; an empty list stands for a property that is not set."""
    parts = list(leaves(after))
    for leaf in parts:
        if leaf.moved:
            return Difference(f"refers to {leaf.label}, which {leaf.moved}", True)
    for leaf in parts:
        if leaf.unsure:
            return Difference(leaf.unsure, False)
    if not before or not after:
        return Difference(
            f"is set to {as_text(after)}" if after else f"is no longer set; it was {as_text(before)}", True
        )
    changes = f"changes from {as_text(before)} to {as_text(after)}"
    if _surely(before, after):
        return Difference(changes, True)
    return Difference(f"{changes}; the templates do not show whether that is the same value", False)


def as_text(node: Any) -> str:
    """Return a value as a person reads it, shortened."""
    if isinstance(node, Token):
        return node.label
    if isinstance(node, list) and len(node) == 1:
        return as_text(node[0])
    body = json.dumps(node, default=lambda value: value.label if isinstance(value, Token) else repr(value))
    return body if len(body) <= 60 else f"{body[:57]}..."


def narrowed(path: str, before: Any, after: Any) -> tuple[str, Any, Any]:
    """Follow two values down to the one key or item in which they differ; None stands for one that is not set."""
    while True:
        first, second = _entries(before), _entries(after)
        if first is None or second is None or (isinstance(before, list) and len(first) != len(second)):
            return path, before, after
        keys = [key for key in {**first, **second} if first.get(key) != second.get(key)]
        if len(keys) != 1:
            return path, before, after
        path, before, after = f"{path}.{keys[0]}", first.get(keys[0]), second.get(keys[0])


def _entries(node: Any) -> dict[Any, Any] | None:
    if isinstance(node, list):
        return dict(enumerate(node))
    return node if isinstance(node, dict) else None


def _surely(before: Any, after: Any) -> bool:
    """Check that two values surely differ: without tokens, of resources alone, or lists of two lengths."""
    lengths = [_length(before), _length(after)]
    if None not in lengths and lengths[0] != lengths[1]:
        return True
    sides = [_resources(before), _resources(after)]
    if sides == [set(), set()]:
        return True
    return None not in sides and sides[0] != sides[1] and set() not in sides


def _length(values: list[Any]) -> int | None:
    """Length of the single list that is the value; None for another value, or when a function made an item."""
    items = values[0] if len(values) == 1 else None
    if not isinstance(items, list) or any(isinstance(item, Token) and item.leaves for item in items):
        return None
    return len(items)


def _resources(node: Any) -> set[tuple[str, str]] | None:
    """Resources that a value consists of, or None when it has tokens of another kind."""
    places = {item.resource for item in walk(node) if isinstance(item, Token)}
    return None if None in places else {place for place in places if place}
