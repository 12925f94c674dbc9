"""Readable text of template values; references are in angle brackets."""

import json
from collections.abc import Iterable
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def shown(scope: IConstruct, value: Any) -> Any:
    """Return a text or JSON as cdk-nag prints it: `arn:<AWS::Partition>:s3:::my-data`.

    Args:
        scope: The construct that holds it.
        value: The text or JSON; may hold tokens.
    """
    return _flat(cdk.Stack.of(scope).resolve(value))


def wildcard_finding(scope: IConstruct, arn: str) -> str:
    """Return the id of cdk-nag's finding about a policy for an ARN with a wildcard."""
    return f"AwsSolutions-IAM5[Resource::{shown(scope, arn)}]"


def acknowledge_wildcards(policy: IConstruct, arns: Iterable[str], reason: str) -> None:
    """Acknowledge cdk-nag's findings about a role or policy for ARNs with a wildcard."""
    for finding in sorted({wildcard_finding(policy, arn) for arn in arns}):
        cdk.Validations.of(policy).acknowledge(cdk.Acknowledgment(id=finding, reason=reason))


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
