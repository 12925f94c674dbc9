"""What a template says, for people to read: what only a deployment knows stands in angle brackets."""

from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def shown(scope: IConstruct, value: Any) -> Any:
    """A text, or JSON, as cdk-nag shows it: `arn:<AWS::Partition>:s3:::my-data`.

    Args:
        scope: Where it stands.
        value: The text or JSON; may hold tokens.
    """
    return _flat(cdk.Stack.of(scope).resolve(value))


def wildcard_finding(scope: IConstruct, arn: str) -> str:
    """Id of cdk-nag's finding that a policy allows something on an ARN with a wildcard in it."""
    return f"AwsSolutions-IAM5[Resource::{shown(scope, arn)}]"


def _flat(node: Any) -> Any:
    match node:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [resource, name]}:
            return f"<{resource}.{name}>"
        case {"Fn::Join": [glue, list(parts)]}:
            return str(glue).join(_flat(part) for part in parts)
        case dict():
            return {key: _flat(value) for key, value in node.items()}
        case list():
            return [_flat(value) for value in node]
    return node
