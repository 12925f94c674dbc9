"""Properties in one form, so that what means the same compares equal: "1" and 1, "true" and true, unordered lists."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

#: Gives the schema that a `$ref` points at, the schema itself where there is none.
Follow = Callable[[dict[str, Any]], dict[str, Any]]


def normal(node: Any, schema: dict[str, Any], follow: Follow) -> Any:
    """Return `node` with numbers and booleans as text, and lists sorted where the schema ignores their order.

    What is neither text, number, mapping nor list stays as it is. A value without a schema has an empty one.
    """
    schema = follow(schema)
    if isinstance(node, dict):
        return {key: normal(value, _below(schema, key, follow), follow) for key, value in node.items()}
    if isinstance(node, list):
        items = schema.get("items")
        content = [normal(item, items if isinstance(items, dict) else {}, follow) for item in node]
        return sorted(content, key=_order) if schema.get("insertionOrder") is False else content
    return text(node, schema.get("type")) if isinstance(node, str | int | float) else node


def text(value: str | float, kind: Any = None) -> str:
    """Return a scalar as text, the same text for what CloudFormation takes as the same value of that type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == "boolean" and isinstance(value, str):
        return value.lower()
    if kind in ("integer", "number") or isinstance(value, float):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return str(value)
        return str(int(number)) if kind != "string" and number.is_integer() and abs(number) < 2**53 else str(value)
    return str(value)


def values(node: Any, path: list[str]) -> Iterator[Any]:
    """Go through the values at a path; "*" stands for every item of a list.

    What is neither mapping nor list though the path goes on (an intrinsic that is not resolved) stands for all
    below it: a change of it may be a change of them.
    """
    if not path:
        yield node
    elif isinstance(node, dict):
        if path[0] in node:
            yield from values(node[path[0]], path[1:])
    elif isinstance(node, list) and path[0] == "*":
        for item in node:
            yield from values(item, path[1:])
    else:
        yield node


def walk(node: Any) -> Iterator[Any]:
    """Go through a value and everything in it, level by level."""
    level = [node]
    for item in level:
        yield item
        if isinstance(item, dict):
            level += item.values()
        elif isinstance(item, list):
            level += item


def _below(schema: Mapping[str, Any], key: str, follow: Follow) -> dict[str, Any]:
    """Return the schema of a property, wherever the schema of the object has put it."""
    direct = (schema.get("properties") or {}).get(key)
    if isinstance(direct, dict):
        return direct
    for choice in ("oneOf", "anyOf", "allOf"):
        for pattern in schema.get(choice) or ():
            if isinstance(pattern, dict) and (below := _below(follow(pattern), key, follow)):
                return below
    for pattern in (schema.get("patternProperties") or {}).values():
        if isinstance(pattern, dict):
            return pattern
    more = schema.get("additionalProperties")
    return more if isinstance(more, dict) else {}


def _order(node: Any) -> str:
    return json.dumps(node, sort_keys=True, default=repr)
