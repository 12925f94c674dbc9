"""Readable text of template values; references are in angle brackets."""

import json
import re
from collections.abc import Iterable
from typing import Any

import aws_cdk as cdk
import jsii
from constructs import IConstruct, IValidation

from ultracluster.planning import once


def readable(scope: IConstruct, value: Any) -> Any:
    """Return a text or JSON as cdk-nag prints it: `arn:<AWS::Partition>:s3:::my-data`.

    Args:
        scope: The construct that holds it.
        value: The text or JSON; may hold tokens.
    """
    return _flat(cdk.Stack.of(scope).resolve(value))


def wildcard_finding(scope: IConstruct, arn: str) -> str:
    """Return the id of cdk-nag's finding about a policy for an ARN with a wildcard."""
    return _finding(readable(scope, arn))


def _finding(text: str) -> str:
    # cdk-nag writes policy variables as it writes references.
    text = re.sub(r"[$][{]([^}]+)[}]", r"<\1>", text)
    return f"AwsSolutions-IAM5[Resource::{text}]"


def acknowledge_wildcards(policy: IConstruct, arns: Iterable[str], reason: str) -> None:
    """Acknowledge cdk-nag's findings about a role or policy for ARNs with a wildcard."""
    stack = cdk.Stack.of(policy)
    policies = _policies(stack)
    if not policies:
        stack.node.add_validation(_Wildcards(stack))
    policies.append((policy, tuple(arns), reason))


@once
def _policies(stack: cdk.Stack) -> list[tuple[IConstruct, tuple[str, ...], str]]:
    """Return role or policy, ARNs and reason of each acknowledgment of a stack: one call of Node resolves all."""
    return []


@jsii.implements(IValidation)
class _Wildcards:
    """Acknowledge the findings of a stack at synthesis: a reference to another stack has its name only then."""

    def __init__(self, stack: cdk.Stack) -> None:
        self._stack = stack

    def validate(self) -> list[str]:
        """Acknowledge the findings; there is nothing to refuse."""
        policies = _policies(self._stack)
        texts = readable(self._stack, [list(arns) for _, arns, _ in policies])
        for (policy, _, reason), arns in zip(policies, texts, strict=True):
            acknowledgments = [cdk.Acknowledgment(id=id, reason=reason) for id in sorted(set(map(_finding, arns)))]
            cdk.Validations.of(policy).acknowledge(*acknowledgments)
        return []


def _text(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, separators=(",", ":"))


def _flat(node: Any) -> Any:
    match node:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [resource, name]}:
            return f"<{resource}.{name}>"
        case {"Fn::Join": [glue, list(parts)]}:
            return str(glue).join(_text(_flat(part)) for part in parts)
        case {"Fn::ImportValue": str(name)}:
            return name
        case dict():
            return {key: _flat(value) for key, value in node.items()}
        case list():
            return [_flat(value) for value in node]
    return node
