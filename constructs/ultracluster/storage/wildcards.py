"""Wildcards in policies that have a reason, told to cdk-nag one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge_wildcards(
    construct: IConstruct, *, reason: str, actions: Sequence[str] = (), arns: Sequence[str] = ()
) -> None:
    """Acknowledge the findings IAM5 of a role or policy for wildcard actions and for ARNs that end in a wildcard.

    Args:
        construct: The role or the policy.
        reason: Why it needs them.
        actions: Actions with a wildcard.
        arns: ARNs with a wildcard; may be tokens of this stack.
    """
    found = [f"Action::{one}" for one in actions]
    found += [f"Resource::{_shown(cdk.Stack.of(construct).resolve(one))}" for one in arns]
    cdk.Validations.of(construct).acknowledge(
        *(cdk.Acknowledgment(id=f"AwsSolutions-IAM5[{one}]", reason=reason) for one in found)
    )


def _shown(value: Any) -> str:
    """Write an expression as cdk-nag does: `<LogicalId.Arn>/*`."""
    if isinstance(value, Mapping):
        if "Fn::Join" in value:
            separator, parts = value["Fn::Join"]
            return str(separator).join(_shown(one) for one in parts)
        if "Fn::GetAtt" in value:
            return f"<{'.'.join(value['Fn::GetAtt'])}>"
        if "Ref" in value:
            return f"<{value['Ref']}>"
    return str(value)
