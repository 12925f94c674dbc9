"""Stacks and change sets in the shapes of CloudFormation's answers."""

from typing import Any

from cdk_rehearsal.rehearsal._state import ChangeSet, Stack
from cdk_rehearsal.rehearsal._template import Template

Answer = dict[str, Any]


def summary_shape(stack: Stack, change_set: ChangeSet) -> Answer:
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "ChangeSetId": change_set.id,
        "ChangeSetName": change_set.name,
        "ExecutionStatus": change_set.execution,
        "Status": change_set.status,
        "StatusReason": change_set.reason,
        "CreationTime": change_set.created,
    }


def stack_shape(stack: Stack) -> Answer:
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "Description": stack.template.body.get("Description") if stack.template else None,
        "Parameters": parameters_shape(stack.given, stack.parameters, stack.template),
        "CreationTime": stack.created,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
        "StackStatus": stack.status,
        "StackStatusReason": stack.reason,
        "DisableRollback": False,
        "NotificationARNs": [],
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"],
        "Outputs": list(stack.outputs.values()),
        "Tags": tags_shape(stack.tags),
        "EnableTerminationProtection": stack.protected,
    }


def parameters_shape(given: dict[str, str], resolved: dict[str, Any], template: Template | None) -> list[Answer]:
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


def tags_shape(given: dict[str, str]) -> list[Answer]:
    return [{"Key": key, "Value": value} for key, value in given.items()]
