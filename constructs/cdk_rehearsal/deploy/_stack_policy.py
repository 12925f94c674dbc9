"""Stack policies: CloudFormation itself refuses to replace or delete the resources that they name.

A template cannot hold one, and the CDK CLI has no option for one: SetStackPolicy sets it, once the stack exists. It
then holds for every update, those of `cdk deploy` included. It does not hold for the deletion of the stack;
termination protection does.

See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html and
https://github.com/aws/aws-cdk/issues/1697 (read 2026-11-22)
"""

import json
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

_ACTIONS = ("Update:Modify", "Update:Replace", "Update:Delete")
# https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_SetStackPolicy.html (read 2026-11-22)
_LONGEST = 16_384
_PREFIX = "LogicalResourceId/"
_DENY: Mapping[str, Any] = {"Effect": "Deny", "Action": ["Update:Replace", "Update:Delete"], "Principal": "*"}


def stack_policy(protected: Collection[str], *, existing: str | None = None, others: Collection[str] = ()) -> str:
    """Return a policy that denies replacement and deletion of these resources.

    Args:
        protected: Logical ids. They must be in the template: CloudFormation refuses any other.
        existing: Policy of the stack. Its statements stay, so that it allows nothing that it denies; only the statement
            that this function adds is replaced. Default: a policy that allows everything else.
        others: Logical ids that stay in that statement, because the user may have added them.

    Raises:
        ValueError: If the policy is too long.
    """
    denied = set(protected)
    statements: list[Any] = []
    if existing is None:
        statements.append({"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"})
    for statement in _listed(json.loads(existing)["Statement"]) if existing else ():
        names = statement.get("Resource")
        # Without a wildcard, each name is one resource.
        if isinstance(names, list) and statement == {**_DENY, "Resource": names} and "*" not in "".join(names):
            denied |= {name.removeprefix(_PREFIX) for name in names} & set(others)
        else:
            statements.append(statement)
    if denied:
        statements.append({**_DENY, "Resource": [f"{_PREFIX}{name}" for name in sorted(denied)]})
    text = json.dumps({"Statement": statements}, separators=(",", ":"))
    if len(text) > _LONGEST:
        raise ValueError(f"the stack policy has {len(text):,} characters; CloudFormation accepts {_LONGEST:,}")
    return text


def unknown_id(text: str, ids: Collection[str]) -> str | None:
    """Return a logical id of a stack policy that is not in the template, for which CloudFormation refuses the policy.

    See: https://github.com/sparkleformation/sfn/issues/238 (read 2026-11-27)
    """
    for statement in _listed(json.loads(text)["Statement"]):
        for name in _listed(statement.get("Resource", statement.get("NotResource"))):
            if "*" not in name and "?" not in name and name.removeprefix(_PREFIX) not in ids:
                return str(name)
    return None


def policy_problems(text: str) -> list[str]:
    """Return what CloudFormation refuses in a stack policy."""
    try:
        statements = json.loads(text)["Statement"]
        parts = [statement for statement in statements if isinstance(statement, Mapping)]
    except (ValueError, KeyError, TypeError):
        return ["it must be a JSON object with a list of statements"]
    problems = [] if len(text) <= _LONGEST else [f"it has more than {_LONGEST} characters"]
    if len(parts) != len(statements):
        problems.append("each statement must be an object")
    for statement in parts:
        if statement.get("Effect") not in ("Allow", "Deny"):
            problems.append("Effect must be Allow or Deny")
        if statement.get("Principal") != "*":
            problems.append('Principal must be "*"')
        actions = _listed(statement.get("Action", statement.get("NotAction")))
        if not actions or any(action not in (*_ACTIONS, "Update:*") for action in actions):
            problems.append(f"Action must be one of {', '.join(_ACTIONS)} and Update:*")
        resources = _listed(statement.get("Resource", statement.get("NotResource")))
        if not resources or any(name != "*" and not str(name).startswith(_PREFIX) for name in resources):
            problems.append(f'Resource must be "*" or begin with {_PREFIX}')
    return problems


def allows(text: str | None, action: str, logical_id: str, type_name: str) -> bool:
    """Return whether a stack policy allows an update of a resource; without one, everything is allowed."""
    if text is None:
        return True
    effects = {
        statement["Effect"]
        for statement in json.loads(text)["Statement"]
        if _applies(statement, action, logical_id, type_name)
    }
    return "Allow" in effects and "Deny" not in effects


def _applies(statement: Mapping[str, Any], action: str, logical_id: str, type_name: str) -> bool:
    patterns = _listed(statement.get("Action", statement.get("NotAction")))
    acts = any(fnmatchcase(action, pattern) for pattern in patterns) != ("NotAction" in statement)
    names = [name.removeprefix(_PREFIX) for name in _listed(statement.get("Resource", statement.get("NotResource")))]
    named = any(fnmatchcase(logical_id, name) for name in names) != ("NotResource" in statement)
    condition = statement.get("Condition") or {}
    types = [kind for test in condition.values() for kind in _listed(test.get("ResourceType"))]
    return acts and named and (not types or any(fnmatchcase(type_name, kind) for kind in types))


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
