"""Intrinsic functions of CloudFormation, and their uses in a template."""

from collections.abc import Iterator
from typing import Any

_CONDITION_FUNCTIONS = ("And", "Contains", "EachMemberEquals", "EachMemberIn", "Equals", "If", "Not", "Or")
_VALUE_FUNCTIONS = (
    "Base64",
    "Cidr",
    "FindInMap",
    "GetAZs",
    "GetAtt",
    "GetStackOutput",
    "ImportValue",
    "Join",
    "Length",
)
_MORE_VALUE_FUNCTIONS = ("Select", "Split", "Sub", "ToJsonString")

FUNCTIONS = frozenset(f"Fn::{name}" for name in (*_CONDITION_FUNCTIONS, *_VALUE_FUNCTIONS, *_MORE_VALUE_FUNCTIONS))


def functions(node: Any) -> Iterator[tuple[str, Any]]:
    """Go through every function of a part of a template, with its argument."""
    if isinstance(node, list):
        for item in node:
            yield from functions(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if len(node) == 1 and str(key).startswith("Fn::"):
                yield str(key), value
            yield from functions(value)
