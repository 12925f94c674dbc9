"""Requirements on policy documents beyond the registry schema. Sources were read on 2026-11-22 and 2026-11-26."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cdk_rehearsal.registry._intrinsics import Token
from cdk_rehearsal.registry._rejections import at
from cdk_rehearsal.registry._rule_values import ServiceRule, is_shown, items_at


def no_longer(path: str, most: int, what: str, *, whitespace: bool = True) -> ServiceRule:
    """Return a rule for the size of a JSON document, or text: in bytes, or, without white space, in characters."""

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        value = at(properties, path)
        if value is None or not is_shown(value):
            return
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        size = len(text.encode() if whitespace else re.sub(r"\s", "", text))
        if size > most:
            yield f"#/{path.replace('.', '/')}: {what} has {size:,} characters; the quota is {most:,}"

    return rule


# Elements that a kind of policy needs, and those that it refuses. Each of them has a twin with the opposite meaning.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
_ELEMENTS = {
    "identity": (("Action", "Resource"), ("Principal",)),
    "trust": (("Action", "Principal"), ("Resource",)),
    "resource": (("Action", "Principal", "Resource"), ()),
    # https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html
    "endpoint": (("Action", "Principal", "Resource"), ()),
}


def statements(path: str, kind: str) -> ServiceRule:
    """Return a rule for the statements of a policy document: `identity`, `trust`, `resource` or `endpoint`."""
    needed, refused = _ELEMENTS[kind]

    def rule(properties: Mapping[str, Any]) -> Iterator[str]:
        document = at(properties, path)
        for place in _nulls(document, f"#/{path.replace('.', '/')}") if document is not None else ():
            yield f"{place}: null is not a value"
        for index, statement in enumerate(_statements(document)):
            place = f"#/{path.replace('.', '/')}/Statement/{index}"
            effect = statement.get("Effect")
            if effect is None or (isinstance(effect, str) and effect not in ("Allow", "Deny")):
                yield f"{place}: the effect is Allow or Deny, got {effect}"
            for name in needed:
                if name not in statement and f"Not{name}" not in statement:
                    yield f"{place}: a statement of this policy needs {name}"
            for name in refused:
                if name in statement or f"Not{name}" in statement:
                    yield f"{place}: a statement of this policy has no {name}"

    return rule


def inline_policies(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check the inline policies of a role."""
    for row in items_at(properties, "Policies"):
        yield from statements("PolicyDocument", "identity")(row)


# Schemas allow anything in a policy document, and CloudFormation no null:
# https://github.com/serverless/serverless/issues/8370 (read 2026-11-28)
def _nulls(node: Any, place: str) -> Iterator[str]:
    """Yield the places of null in a value."""
    if node is None:
        yield place
    items = node.items() if isinstance(node, Mapping) else enumerate(node if isinstance(node, list) else ())
    for key, item in items:
        yield from _nulls(item, f"{place}/{key}")


def _statements(policy: Any) -> list[Mapping[str, Any]]:
    listed = policy.get("Statement") if isinstance(policy, Mapping) else None
    return [each for each in (listed if isinstance(listed, list) else [listed]) if isinstance(each, Mapping)]


def key_policy(properties: Mapping[str, Any]) -> Iterator[str]:
    """Check that a principal of the account may change the policy of a key."""
    # https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html and API_PutKeyPolicy
    policy = properties.get("KeyPolicy")
    if not isinstance(policy, Mapping) or str(properties.get("BypassPolicyLockoutSafetyCheck")).lower() == "true":
        return
    if not any(map(_keeps_access, _statements(policy))) and not isinstance(policy.get("Statement"), Token):
        yield "#/KeyPolicy: it locks everyone out; KMS requires a principal that may call kms:PutKeyPolicy"


def _keeps_access(statement: Mapping[str, Any]) -> bool:
    """Return True unless a statement certainly does not let a principal of an account change the policy."""
    if statement.get("Effect") == "Deny":
        return False
    actions = statement.get("Action")
    allowed = [
        action
        for action in (actions if isinstance(actions, list) else [actions])
        if not isinstance(action, str) or action in ("*", "kms:*", "kms:Put*", "kms:PutKeyPolicy")
    ]
    principal = statement.get("Principal")
    services_only = isinstance(principal, Mapping) and set(principal) == {"Service"}
    return ("NotAction" in statement or allowed not in ([], [None])) and not services_only
