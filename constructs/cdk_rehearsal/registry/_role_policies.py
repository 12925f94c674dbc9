"""Quota of IAM on the inline policies of a role, which several policies in several stacks share.

See: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (read 2026-11-27)
"""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from cdk_rehearsal.registry._intrinsics import SUBSTITUTION

# Characters of all inline policies of a role together, without white space.
_MOST = 10_240
# Least characters of values that a template does not show.
_LEAST = {
    "AWS::AccountId": 12,
    "AWS::Partition": len("aws"),
    "AWS::Region": len("us-east-1"),
    "AWS::URLSuffix": len("amazonaws.com"),
}
_PATHS = {"AWS::IAM::Policy": "Roles", "AWS::IAM::RolePolicy": "RoleName"}


def roles_of(type_name: str, properties: Mapping[str, Any]) -> list[Any]:
    """Return the roles that a resource adds an inline policy to, as the template refers to them."""
    roles = properties.get(_PATHS.get(type_name, ""))
    return roles if isinstance(roles, list) else [] if roles is None else [roles]


def inline_size(type_name: str, properties: Mapping[str, Any]) -> int:
    """Return the least characters of the inline policies in a resource."""
    if type_name in _PATHS:
        return _size(properties.get("PolicyDocument"))
    rows = properties.get("Policies") if type_name == "AWS::IAM::Role" else None
    return sum(_size(row.get("PolicyDocument")) for row in rows or () if isinstance(row, Mapping))


def role_problem(role: str, sizes: Mapping[str, int]) -> str | None:
    """Return what IAM refuses in the inline policies of a role, or None.

    Args:
        role: Name of the role in the message.
        sizes: Name of each resource that adds policies -> their characters.
    """
    total = sum(sizes.values())
    if total <= _MOST:
        return None
    largest = sorted(sizes, key=lambda name: -sizes[name])[:3]
    return (
        f"the inline policies of the role {role} have {total:,} characters together; the quota is {_MOST:,}. "
        f"Largest: {', '.join(f'{name} {sizes[name]:,}' for name in largest)}. Use managed policies"
    )


def _size(document: Any) -> int:
    shown = _shown(document)
    # IAM counts characters, and a policy may have those up to U+00FF: none is escaped.
    compact = partial(json.dumps, separators=(",", ":"), ensure_ascii=False, default=lambda _: "x")
    text = shown if isinstance(shown, str) else compact(shown)
    return len(re.sub(r"\s", "", text)) if document is not None else 0


def _shown(node: Any) -> Any:
    """Return a value with the shortest text in place of each intrinsic function."""
    if isinstance(node, list):
        return [*map(_shown, node)]
    if not isinstance(node, Mapping):
        return node
    match dict(node):
        case {"Ref": name, **rest} if not rest:
            return "x" * _LEAST.get(str(name), 1)
        case {"Fn::Join": [str(separator), [*parts]], **rest} if not rest:
            return separator.join(part if isinstance(part, str) else "x" for part in map(_shown, parts))
        case {"Fn::Sub": str(text) | [str(text), _], **rest} if not rest:
            return SUBSTITUTION.sub(lambda match: "x" * _LEAST.get(match[2], 1), text)
        case other if any(str(key).startswith("Fn::") for key in other):
            return "x"
    return {key: _shown(value) for key, value in node.items()}
