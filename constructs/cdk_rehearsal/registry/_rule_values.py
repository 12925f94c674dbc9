"""Values of properties that rules of services read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cdk_rehearsal.registry._intrinsics import Token
from cdk_rehearsal.registry._rejections import at

#: Requirements of one resource type.
ServiceRule = Callable[[Mapping[str, Any]], Iterator[str]]


def number_at(properties: Mapping[str, Any], path: str) -> int | None:
    """Return the number at a path, or None if the template does not show it."""
    value = at(properties, path)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if re.fullmatch(r"-?\d{1,15}", str(value)) else None


def text_at(properties: Mapping[str, Any], path: str) -> str | None:
    """Return the text at a path, or None if the template does not show it."""
    value = at(properties, path)
    return value if isinstance(value, str) else None


def is_shown(node: Any) -> bool:
    """Return True if a value has no intrinsic function."""
    if isinstance(node, dict):
        return not any(key == "Ref" or str(key).startswith("Fn::") for key in node) and all(
            map(is_shown, node.values())
        )
    return all(map(is_shown, node)) if isinstance(node, list) else node is None or isinstance(node, str | int | float)


def is_given(value: Any) -> bool:
    """Return True if a property certainly has a value: `Fn::If` may leave it out, and false is the same as none."""
    if isinstance(value, Token):
        return value.resource is not None
    return value not in (None, False, "false", "False", [], {})


def items_at(properties: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
    """Return the objects of the list at a path."""
    value = at(properties, path)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def in_words(values: Sequence[object]) -> str:
    """Return the values as a sentence lists them."""
    return f"{', '.join(map(str, values[:-1]))} or {values[-1]}"
