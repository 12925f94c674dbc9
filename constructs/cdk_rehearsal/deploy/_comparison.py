"""Templates on both sides of a deployment: those that CloudFormation has, and those of an assembly."""

import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._nested_stacks import deployed_templates, original_template, synthesised_templates
from cdk_rehearsal.registry import read

#: Creates a boto3 client of a service in a region, None for the default one.
Client = Callable[[str, str | None], Any]
#: Reports whether a stack, as CloudFormation describes it, is one that the app once had.
Belongs = Callable[[Mapping[str, Any]], bool]

_SSM = "AWS::SSM::Parameter::Value<"
#: Status of a stack whose creation failed: it holds nothing, and the CDK CLI deletes it before it creates it again.
CREATION_FAILED = "ROLLBACK_COMPLETE"
# Status of one whose creation failed, and of which a resource could not be deleted.
_NOT_UNDONE = "ROLLBACK_FAILED"
# Nothing exists under these: a change set was created, or deleted, and no more.
_ABSENT = ("REVIEW_IN_PROGRESS", "DELETE_COMPLETE")
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html (read 2026-11-22)
_UPDATABLE = (
    *("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"),
    *("IMPORT_COMPLETE", "IMPORT_ROLLBACK_COMPLETE", "UPDATE_FAILED", "CREATE_FAILED"),
)


@dataclass(kw_only=True)
class Comparison:
    """Result of `comparison`.

    Args:
        deployed: Directory with the templates that are deployed.
        assembled: Directory with those of the assembly.
        existing: Stack of the assembly that exists -> its description by CloudFormation.
        new: Stacks that do not exist yet.
        failed: Those of the new ones that exist without resources, because their creation failed.
        blocked: Stack -> status in which it cannot be updated.
        not_undone: Those of them whose creation failed, and of which a resource could not be deleted -> command that
            deletes the stack.
        left: Stack that is deployed and no longer in the assembly -> command that deletes it.
        importers: Stack of `left` -> deployed stacks of the assembly that import its values. Until they are updated,
            CloudFormation does not delete it.
    """

    deployed: Path
    assembled: Path
    existing: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    not_undone: dict[str, str] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    importers: dict[str, list[str]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True if nothing is deployed."""
        return not any(self.deployed.iterdir())

    def blocks(self) -> list[str]:
        """Return why each stack that cannot be updated is so, and what to do after a creation that failed."""
        lines = [f"{name} is {status} and cannot be updated" for name, status in self.blocked.items()]
        return lines + [
            f"make it possible to delete what the events of {name} name, then delete the stack: {command}"
            for name, command in self.not_undone.items()
        ]

    def deletions(self) -> list[str]:
        """Return when, and by which command, each stack that is no longer in the assembly can be deleted."""
        return [
            f"delete {name} after the deployment, which ends the imports of {' and '.join(users)}: {command}"
            if (users := self.importers.get(name))
            else f"or delete {name} first: {command}"
            for name, command in self.left.items()
        ]

    def same(self, stack: str) -> bool:
        """Return whether a deployed stack has the template of the assembly, parameters from SSM included."""
        sides = [folder / template_file(stack) for folder in (self.deployed, self.assembled)]
        return all(file.is_file() for file in sides) and sides[0].read_bytes() == sides[1].read_bytes()


def comparison(
    stacks: Iterable[AssembledStack], client: Client, folder: Path, *, belongs: Belongs | None = None
) -> Comparison:
    """Write the deployed templates and those of an assembly into two directories below `folder`, for the guard.

    In place of parameters that CloudFormation reads from SSM are their deployed, and their current, values: a newer
    image is a change, although the templates are the same.

    Args:
        stacks: Stacks of the assembly.
        client: Creates clients; needs cloudformation:DescribeStacks, cloudformation:GetTemplate and ssm:GetParameters,
            and for nested stacks cloudformation:DescribeStackResource.
        folder: An empty directory.
        belongs: Finds stacks of the app that are no longer in the assembly: `cdk deploy` leaves them deployed. The
            guard judges what they hold. Default: only stacks of the assembly are compared.
    """
    stacks = list(stacks)
    result = Comparison(deployed=folder / "deployed", assembled=folder / "assembled")
    for directory in (result.deployed, result.assembled):
        directory.mkdir()
    # Region -> values in SSM: the stacks of an app have parameters in common.
    ssm: defaultdict[str | None, dict[str, str]] = defaultdict(dict)
    # Region -> all its stacks by name: one request gives a page of them.
    regions = dict.fromkeys(stack.region for stack in stacks) if belongs else ()
    known = {region: _all(client, region) for region in regions}
    for stack in stacks:
        cloudformation = client("cloudformation", stack.region)
        expected = read(stack.template.read_text(encoding="utf-8"))
        listed = known[stack.region].get(stack.name) if belongs else described(cloudformation, stack.name)
        existing = None if listed is None or listed["StackStatus"] in _ABSENT else listed
        failed = existing is not None and existing["StackStatus"] == CREATION_FAILED
        if failed:
            result.failed.append(stack.name)
        if existing is None or failed:
            result.new.append(stack.name)
        else:
            result.existing[stack.name] = existing
            if existing["StackStatus"] not in _UPDATABLE:
                result.blocked[stack.name] = existing["StackStatus"]
            if existing["StackStatus"] == _NOT_UNDONE:
                result.not_undone[stack.name] = _deletion(existing)
            body = original_template(cloudformation, stack.name)
            before = _resolved(existing)
            after = _current(expected, partial(client, "ssm", stack.region), ssm[stack.region])
            body, expected = _pinned(body, before, after), _pinned(expected, after, before)
            for name, template in deployed_templates(cloudformation, stack.name, body):
                _write(result.deployed, name, template)
        for name, template in synthesised_templates(stack.name, expected, stack.template.parent):
            _write(result.assembled, name, template)
    if belongs is not None:
        _add_left(result, stacks, client, belongs, known)
    return result


def _all(client: Client, region: str | None) -> dict[str, Mapping[str, Any]]:
    pages = client("cloudformation", region).get_paginator("describe_stacks").paginate()
    return {stack["StackName"]: stack for page in pages for stack in page["Stacks"]}


def _add_left(
    result: Comparison,
    stacks: Sequence[AssembledStack],
    client: Client,
    belongs: Belongs,
    known: Mapping[str | None, Mapping[str, Mapping[str, Any]]],
) -> None:
    names = {(stack.region, stack.name) for stack in stacks}
    files = {stack.name: result.deployed / template_file(stack.name) for stack in stacks}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.is_file()}
    for region, existing in known.items():
        for name, stack in existing.items():
            exists = stack["StackStatus"] not in (*_ABSENT, CREATION_FAILED)
            if exists and (region, name) not in names and belongs(stack):
                result.left[name] = _deletion(stack)
                _write(result.deployed, name, original_template(client("cloudformation", region), name))
                exports = [json.dumps(row["ExportName"]) for row in stack.get("Outputs", ()) if "ExportName" in row]
                users = [user for user, text in texts.items() if any(export in text for export in exports)]
                if users:
                    result.importers[name] = users


def _deletion(stack: Mapping[str, Any]) -> str:
    """Return the commands that delete a stack."""
    place = f"--region {stack['StackId'].split(':')[3]} --stack-name {shlex.quote(stack['StackName'])}"
    lift = "aws cloudformation update-termination-protection --no-enable-termination-protection"
    delete = f"aws cloudformation delete-stack {place}"
    return f"{lift} {place} && {delete}" if stack.get("EnableTerminationProtection") else delete


def described(cloudformation: Any, name: str) -> Mapping[str, Any] | None:
    """Return a stack as CloudFormation describes it, or None if there is none."""
    from botocore.exceptions import ClientError

    try:
        stack: Mapping[str, Any] = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        # CloudFormation has no code of its own for a stack that does not exist.
        if "does not exist" in str(error):
            return None
        raise
    return None if stack["StackStatus"] in _ABSENT else stack


def _resolved(stack: Mapping[str, Any]) -> dict[str, str]:
    return {
        parameter["ParameterKey"]: parameter["ResolvedValue"]
        for parameter in stack.get("Parameters", [])
        if parameter.get("ResolvedValue")
    }


def _current(template: Mapping[str, Any], ssm: Callable[[], Any], values: dict[str, str]) -> dict[str, str]:
    """Return the current values of the parameters of a template, and keep them by their names in SSM."""
    names = {
        key: definition["Default"]
        for key, definition in (template.get("Parameters") or {}).items()
        if str(definition.get("Type", "")).startswith(_SSM) and isinstance(definition.get("Default"), str)
    }
    paths = sorted(set(names.values()) - values.keys())
    # GetParameters takes ten names.
    for start in range(0, len(paths), 10):
        answer = ssm().get_parameters(Names=paths[start : start + 10])
        values |= {row["Name"]: row["Value"] for row in answer["Parameters"]}
    return {key: values[path] for key, path in names.items() if path in values}


def _pinned(template: dict[str, Any], values: Mapping[str, str], others: Mapping[str, str]) -> dict[str, Any]:
    """Return a template with the values of parameters that both sides have."""

    def pin(node: Any) -> Any:
        if isinstance(node, list):
            return [pin(item) for item in node]
        if not isinstance(node, dict):
            return node
        name = node.get("Ref") if len(node) == 1 else None
        if isinstance(name, str) and name in values and name in others:
            return values[name]
        return {key: pin(value) for key, value in node.items()}

    return {**template, "Resources": pin(template["Resources"])}


def _write(folder: Path, name: str, body: Mapping[str, Any]) -> None:
    (folder / template_file(name)).write_text(json.dumps(body, sort_keys=True), encoding="utf-8")


def template_file(stack: str) -> str:
    """Return the name of the file with the template of a stack."""
    return f"{stack}.template.json"
