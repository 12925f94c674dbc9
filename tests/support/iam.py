"""Evaluate IAM policies as IAM does, as far as the policies of this library go; anything else is refused.

See: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html (read 2026-11-22)
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_KEYS = {"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"}


def allowed(
    documents: Iterable[Mapping[str, Any]], action: str, resource: str = "*", **context: Mapping[str, str]
) -> bool:
    """Return True if policies allow a request: an explicit deny wins, and what no statement allows is denied.

    Args:
        documents: Policy documents without intrinsic functions.
        action: Action, such as `pcs:GetCluster`.
        resource: ARN of the resource; `*` where an action has none.
        context: `keys`: values of the condition keys of the request.
    """
    keys = {key.lower(): value for key, value in context.get("keys", {}).items()}
    effects = {
        statement["Effect"]
        for document in documents
        for statement in _checked(document)
        if _applies(statement, action, resource, keys)
    }
    return effects == {"Allow"}


def _checked(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    assert document["Version"] == "2012-10-17"
    statements = _several(document["Statement"])
    for statement in statements:
        assert statement.keys() <= _KEYS, f"unknown keys: {sorted(statement.keys() - _KEYS)}"
        assert statement["Effect"] in ("Allow", "Deny")
    return statements


def _applies(statement: Mapping[str, Any], action: str, resource: str, keys: Mapping[str, str]) -> bool:
    return (
        _named(statement, "Action", action, keys, fold=True)
        and _named(statement, "Resource", resource, keys)
        and all(
            _satisfied(operator, key, _several(values), keys)
            for operator, tests in statement.get("Condition", {}).items()
            for key, values in tests.items()
        )
    )


def _named(statement: Mapping[str, Any], kind: str, value: str, keys: Mapping[str, str], fold: bool = False) -> bool:
    if kind in statement:
        return any(_matches(pattern, value, keys, fold=fold) for pattern in _several(statement[kind]))
    return not any(_matches(pattern, value, keys, fold=fold) for pattern in _several(statement[f"Not{kind}"]))


def _satisfied(operator: str, key: str, values: list[Any], keys: Mapping[str, str]) -> bool:
    present = keys.get(key.lower())
    if operator.endswith("IfExists"):
        if present is None:
            return True
        operator = operator.removesuffix("IfExists")
    match operator:
        case "StringEquals":
            return present is not None and any(present == _filled(value, keys) for value in values)
        case "StringLike":
            return present is not None and any(_matches(value, present, keys) for value in values)
        case "Null":
            return str(present is None).lower() in values
        case "Bool":
            return present is not None and present.lower() in [str(value).lower() for value in values]
    raise NotImplementedError(f"the operator {operator} of a condition")


def _matches(pattern: str, value: str, keys: Mapping[str, str], fold: bool = False) -> bool:
    expression = re.escape(_filled(pattern, keys)).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(expression, value, re.DOTALL | (re.IGNORECASE if fold else 0)) is not None


def _filled(text: str, keys: Mapping[str, str]) -> str:
    """Fill in policy variables; a statement with one that the request lacks matches nothing."""
    return re.sub(r"\$\{([^}]+)\}", lambda variable: keys.get(variable[1].lower(), "\0"), text)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
