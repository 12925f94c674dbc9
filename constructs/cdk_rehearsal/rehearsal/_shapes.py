"""Responses of CloudFormation's API that describe stacks."""

from typing import Any

from cdk_rehearsal.rehearsal._state import Stack
from cdk_rehearsal.rehearsal._template import Template

Answer = dict[str, Any]


def describe(stack: Stack) -> Answer:
    """Return a stack as DescribeStacks does."""
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "Description": stack.template.body.get("Description") if stack.template else None,
        "Parameters": parameters(stack.given, stack.parameters, stack.template),
        "CreationTime": stack.created,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
        "StackStatus": stack.status,
        "StackStatusReason": stack.reason,
        "DisableRollback": False,
        "NotificationARNs": [],
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        "Outputs": list(stack.outputs.values()),
        "Tags": tags(stack.tags),
        "EnableTerminationProtection": stack.protected,
    }


def parameters(given: dict[str, str], resolved: dict[str, Any], template: Template | None) -> list[Answer]:
    """Return parameters as they were given, with what SSM parameters resolved to; secrets are masked."""
    answers = []
    for name, value in resolved.items():
        definition = template.parameters.get(name, {}) if template else {}
        text = ",".join(value) if isinstance(value, list) else str(value)
        answer = {"ParameterKey": name, "ParameterValue": str(given.get(name, definition.get("Default", "")))}
        if definition.get("NoEcho"):
            answer["ParameterValue"] = "****"
        elif str(definition.get("Type", "")).startswith("AWS::SSM::"):
            answer["ResolvedValue"] = text
        answers.append(answer)
    return answers


def tags(given: dict[str, str]) -> list[Answer]:
    """Return tags as a list of keys and values."""
    return [{"Key": key, "Value": value} for key, value in given.items()]
