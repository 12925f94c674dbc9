"""Names of cdk-nag's findings."""

from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def wildcard_finding(scope: IConstruct, arn: str) -> str:
    """Id of the finding that a policy allows something on an ARN with a wildcard in it.

    cdk-nag shows in angle brackets what only a deployment knows.

    Args:
        scope: Where the policy stands.
        arn: The ARN; may hold tokens.
    """
    return f"AwsSolutions-IAM5[Resource::{_flat(cdk.Stack.of(scope).resolve(arn))}]"


def _flat(arn: Any) -> str:
    if isinstance(arn, str):
        return arn
    if "Ref" in arn:
        return f"<{arn['Ref']}>"
    glue, parts = arn["Fn::Join"]
    return str(glue).join(map(_flat, parts))
