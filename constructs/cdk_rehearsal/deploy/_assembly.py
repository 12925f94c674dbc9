"""Stacks of a cloud assembly (cdk.out)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdk_rehearsal.deploy._nested_stacks import synthesised_templates
from cdk_rehearsal.registry import read

_STACK = "aws:cloudformation:stack"
_PLACE = re.compile(r"aws://([^/]+)/([^/]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class AssembledStack:
    """A stack of an assembly.

    Args:
        name: Name of the stack in its account.
        account: Account, or None if the app names none.
        region: Region, or None if the app names none.
        template: File of its template.
        path: Path in the app, such as `Prod/llama-Compute`, by which the CDK CLI selects it.
        asset: `s3://BUCKET/KEY` to which the CDK CLI uploads the template, with pseudo parameters, or None.
        dependencies: Paths of the stacks that the CDK CLI deploys before it.
    """

    name: str
    account: str | None
    region: str | None
    template: Path
    path: str = ""
    asset: str | None = None
    dependencies: tuple[str, ...] = ()


def assembled(folder: Path) -> Iterator[AssembledStack]:
    """Go through the stacks of an assembly, those of its stages included."""
    artifacts = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("artifacts", {})
    for name, artifact in artifacts.items():
        properties = artifact.get("properties", {})
        if artifact["type"] == "cdk:cloud-assembly":
            yield from assembled(folder / properties["directoryName"])
        elif artifact["type"] == _STACK:
            match = _PLACE.match(artifact.get("environment", ""))
            account, region = match.groups() if match else ("unknown-account", "unknown-region")
            yield AssembledStack(
                name=properties.get("stackName", name),
                account=None if account == "unknown-account" else account,
                region=None if region == "unknown-region" else region,
                template=folder / properties.get("templateFile", f"{name}.template.json"),
                path=artifact.get("displayName", name),
                asset=properties.get("stackTemplateAssetObjectUrl"),
                dependencies=tuple(
                    artifacts[other].get("displayName", other)
                    for other in artifact.get("dependencies", ())
                    if artifacts[other]["type"] == _STACK
                ),
            )


def templates_of(stack: AssembledStack) -> list[Mapping[str, Any]]:
    """Return the templates of a stack: those of its nested stacks, and its template."""
    template = read(stack.template.read_text(encoding="utf-8"))
    return [it for _, it in synthesised_templates(stack.name, template, stack.template.parent)]
