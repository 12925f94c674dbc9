"""Statements of IAM policies whose resource never matches their action, by AWS's service authorization reference.

The reference is cfn-lint's copy: by action, the kinds of resources that it supports, and the forms of their ARNs. An
action without such a kind must be on `*`: on anything else, a statement allows and denies nothing.

See: https://docs.aws.amazon.com/service-authorization/latest/reference/ (cfn-lint 1.58.0, read 2026-11-27)
"""

import fnmatch
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource

#: Actions that AWS documents on a resource although the reference has none for them, by the page
#: (read 2026-11-27, 2026-11-21)
DOCUMENTED = {
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html": [
        "ssmmessages:OpenDataChannel"
    ],
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html": [
        "events:ListRuleNamesByTarget",
        "events:ListRules",
    ],
}


def statements(node: Any) -> Iterator[dict[str, Any]]:
    """Statements of identities below a node of a template: those of a resource policy have a principal."""
    if isinstance(node, list):
        for entry in node:
            yield from statements(entry)
    elif isinstance(node, dict):
        if "Effect" in node and "Action" in node and "Principal" not in node:
            yield node
        for value in node.values():
            yield from statements(value)


def useless(node: Any) -> set[tuple[str, str]]:
    """Actions in a template that no resource of their statement matches, each with these resources."""
    return {
        (action, " ".join(resources))
        for statement in statements(node)
        for resources in [tuple(map(_text, _several(statement.get("Resource", "*"))))]
        for action in _several(statement["Action"])
        if not _matches(action, resources)
    }


@cache
def _matches(action: str, resources: tuple[str, ...]) -> bool:
    if "*" in resources or any(action in actions for actions in DOCUMENTED.values()):
        return True
    kinds = [kind for name in _names(action) for kind in _kinds(name)]
    return any(_meet_in_parts(resource, kind) for resource in resources for kind in kinds)


@cache
def _reference() -> dict[str, Any]:
    return dict(load_resource(AdditionalSpecs, "Policies.json"))


def _names(action: str) -> list[str]:
    """Actions of the reference that an action stands for, in lower case."""
    prefix, _, name = action.lower().partition(":")
    names = fnmatch.filter(_reference()[prefix]["Actions"], name)
    assert names, f"{action} is not in the reference"
    return [f"{prefix}:{known}" for known in names]


def _kinds(action: str) -> Iterator[str]:
    """Forms of the ARNs that an action supports, as patterns."""
    prefix, _, name = action.partition(":")
    service = _reference()[prefix]
    for kind in _several(service["Actions"][name].get("Resources", [])):
        for form in service["Resources"][kind.lower()]["ARNFormats"]:
            yield re.sub(r"\$\{\w+\}|\.\*", "*", form)


def _meet_in_parts(resource: str, kind: str) -> bool:
    """Return True if some ARN matches both: a star stands for no colon before the last part."""
    pairs = zip(resource.split(":", 5), kind.split(":", 5), strict=True) if ":" in resource else [(resource, kind)]
    return all(_meet(left, right) for left, right in pairs)


def _meet(left: str, right: str) -> bool:
    """Return True if some text matches both patterns."""
    reached = [(0, 0)]
    for x, y in reached:
        a, b = left[x : x + 1], right[y : y + 1]
        # A star stands for nothing, or for the next letter of the other pattern.
        steps = [(x + 1, y), (x, y + 1)] if "*" in (a, b) else []
        if a and b and (a == b or "?" in (a, b)):
            steps.append((x + 1, y + 1))
        reached += [step for step in steps if step not in reached and step[0] <= len(left) and step[1] <= len(right)]
    return (len(left), len(right)) in reached


def _text(resource: Any) -> str:
    """A resource as a pattern: what only the account knows may be anything."""
    match resource:
        case str():
            return re.sub(r"\$\{[^}]+\}", "*", resource)
        case {"Fn::Join": [str(glue), list(parts)]}:
            return glue.join(map(_text, parts))
    return "?*"


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
