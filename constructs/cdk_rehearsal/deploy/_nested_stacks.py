"""Templates of nested stacks, deployed and synthesized, under names that both sides have."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cdk_rehearsal.registry import NESTED_STACK, TEMPLATE_FILE, UnreadableError, nested_template, read

_Templates = Iterator[tuple[str, dict[str, Any]]]


def deployed_templates(
    cloudformation: Any, name: str, body: Mapping[str, Any], *, stack: str | None = None
) -> _Templates:
    """Yield the template of a deployed stack and those of its nested stacks, each with its name.

    Args:
        cloudformation: Client, which needs cloudformation:DescribeStackResource and cloudformation:GetTemplate.
        name: Name of the first template; those of nested stacks continue it by their logical ids.
        body: The template.
        stack: Name or ARN of the stack. Default: the name.
    """

    def inner(logical_id: str, nested: str) -> _Templates | None:
        if (arn := _physical_id(cloudformation, stack or name, logical_id)) is None:
            return None
        return deployed_templates(cloudformation, nested, original_template(cloudformation, arn), stack=arn)

    yield from _with_nested(name, body, inner)


def synthesised_templates(name: str, body: Mapping[str, Any], folder: Path) -> _Templates:
    """Yield the template of a stack of an assembly and those of its nested stacks, each with its name.

    Args:
        name: Name of the first template; those of nested stacks continue it by their logical ids.
        body: The template.
        folder: Directory of the assembly.
    """

    def inner(logical_id: str, nested: str) -> _Templates | None:
        file = nested_template(body["Resources"][logical_id], folder)
        if file is None or not file.is_file():
            return None
        return synthesised_templates(nested, read(file.read_text(encoding="utf-8")), folder)

    yield from _with_nested(name, body, inner)


def _with_nested(name: str, body: Mapping[str, Any], inner: Callable[[str, str], _Templates | None]) -> _Templates:
    resources = dict(body.get("Resources") or {})
    for logical_id, resource in resources.items():
        if resource["Type"] == NESTED_STACK and (templates := inner(logical_id, f"{name}.{logical_id}")):
            yield from templates
            metadata = {**(resource.get("Metadata") or {}), TEMPLATE_FILE: f"{name}.{logical_id}.template.json"}
            resources[logical_id] = {**resource, "Metadata": metadata}
    yield name, {**body, "Resources": resources}


def original_template(cloudformation: Any, name: str) -> dict[str, Any]:
    """Return the template of a stack as it was deployed."""
    body = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    # boto3 parses JSON itself.
    try:
        content: dict[str, Any] = read(body) if isinstance(body, str) else json.loads(json.dumps(body))
    except UnreadableError as error:
        raise ValueError(f"the deployed template of {name}: {error}") from None
    return content


def _physical_id(cloudformation: Any, stack: str, logical_id: str) -> str | None:
    """Return the ARN of a nested stack, or None if its condition does not hold."""
    from botocore.exceptions import ClientError

    try:
        answer = cloudformation.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)
    except ClientError as error:
        # CloudFormation has no code of its own for a resource that does not exist.
        if "does not exist" in str(error):
            return None
        raise
    return answer["StackResourceDetail"].get("PhysicalResourceId") or None
