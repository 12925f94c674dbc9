"""Policies of KMS keys: principals that they allow an action."""

import json
import re
from typing import Any

from ultracluster.live._account import Account, Call

KEY = Call(service="kms", operation="describe_key", action="kms:DescribeKey")
KEY_POLICY = Call(service="kms", operation="get_key_policy", action="kms:GetKeyPolicy")


def allowed(account: Account, key: str, action: str) -> set[str]:
    """Return the principals, as ARNs or `*`, that the policy of a key allows an action; conditions are not read.

    Args:
        account: Account of the key: KMS returns the policy there only.
        key: ARN of the key.
        action: Action, such as `kms:Decrypt`.
    """
    text = account.ask(KEY_POLICY, KeyId=key, PolicyName="default")["Policy"]
    statements = json.loads(text)["Statement"]
    statements = [statements] if isinstance(statements, dict) else statements
    return {principal for statement in statements for principal in _principals(statement, action.lower())}


def _principals(statement: dict[str, Any], action: str) -> list[str]:
    names = statement.get("Principal", {})
    names = names if isinstance(names, str) else names.get("AWS", [])
    matches = any(_matches(pattern, action) for pattern in _several(statement.get("Action", [])))
    return _several(names) if statement["Effect"] == "Allow" and matches else []


def _matches(pattern: str, action: str) -> bool:
    """Return whether an action of a policy, which may have wildcards in any case of letters, includes another."""
    text = re.escape(pattern.lower()).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(text, action) is not None


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
