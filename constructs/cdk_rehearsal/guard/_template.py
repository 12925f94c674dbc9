"""A template as the guard needs it: looked over once, so that nothing that follows has to wonder."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_rehearsal.registry import SECTIONS, UnreadableError, check_plain

_READ = ("Resources", "Parameters", "Mappings", "Conditions", "Outputs")
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-aws-languageextensions.html
# (read 2026-11-21): its functions are known here; only Fn::ForEach makes resources.
_KNOWN_TRANSFORM = "AWS::LanguageExtensions"
_LOGICAL_ID = re.compile(r"[A-Za-z0-9]+", re.ASCII)
_EXPANDED = "aws cloudformation get-template --template-stage Processed"


#: Section of a template's metadata: id -> type of each resource outside of every stack that holds data of the app.
ADOPTED = "cdk-rehearsal:adopted"


class GuardError(ValueError):
    """Inputs that cannot be compared; the message gives the reason and the remedy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """One template, its sections as mappings; each resource has a `Type` that is a text."""

    resources: Mapping[str, dict[str, Any]]
    parameters: Mapping[str, dict[str, Any]]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    outputs: Mapping[str, dict[str, Any]]
    #: Resources outside of every stack that hold data of the app: id -> type.
    adopted: Mapping[str, str]

    @classmethod
    def of(cls, body: Any) -> "Template":
        """Return the template of plain data, or raise GuardError with every problem.

        One without resources is what the CDK writes for an empty stack.
        """
        try:
            check_plain(body)
        except UnreadableError as error:
            raise GuardError(str(error)) from None
        if problems := list(_problems(body)):
            raise GuardError("; ".join(problems))
        sections = {name.lower(): body.get(name) or {} for name in _READ}
        return cls(**sections, adopted=_adopted(body.get("Metadata")))


def _adopted(metadata: Any) -> dict[str, str]:
    rows = metadata.get(ADOPTED) if isinstance(metadata, Mapping) else None
    if not isinstance(rows, Mapping):
        return {}
    return {id: str(row["Type"]) for id, row in rows.items() if isinstance(row, Mapping) and "Type" in row}


def _problems(body: Any) -> Iterator[str]:
    if not isinstance(body, Mapping):
        yield "it is no template: it must be a mapping of sections, such as Resources"
        return
    if unknown := sorted(set(body) - SECTIONS):
        yield f"it is no template, which has no section {_listed(unknown)}"
        return
    transforms = body.get("Transform") or []
    names = transforms if isinstance(transforms, list) else [transforms]
    if foreign := [transform for transform in names if transform != _KNOWN_TRANSFORM]:
        yield f"the transform {json.dumps(foreign[0])} runs at AWS only; compare its output: {_EXPANDED}"
    for name in _READ:
        section = body.get(name)
        if section is None:
            continue
        if not isinstance(section, Mapping):
            yield f"{name} must be a mapping"
        elif loop := next((key for key in section if key.startswith("Fn::")), None):
            yield f"{name}: {loop} is expanded at AWS only; compare its output: {_EXPANDED}"
        else:
            yield from _section_problems(name, section)


def _section_problems(name: str, section: Mapping[str, Any]) -> Iterator[str]:
    for key, value in section.items():
        if name in ("Resources", "Parameters", "Outputs") and not isinstance(value, Mapping):
            yield f"{name}: {json.dumps(key)} must be a mapping"
        elif name == "Resources":
            if not _LOGICAL_ID.fullmatch(key):
                yield f"Resources: a logical id is of letters and digits, got {json.dumps(key)}"
            if not isinstance(value.get("Type"), str) or not value["Type"]:
                yield f"Resources: {json.dumps(key)} has no Type"
            if not isinstance(value.get("Properties", {}), Mapping | None):
                yield f"Resources: the Properties of {json.dumps(key)} must be a mapping"
            if not isinstance(value.get("Condition"), str | None):
                yield f"Resources: the Condition of {json.dumps(key)} must be a name"


def _listed(names: list[str]) -> str:
    shown = ", ".join(json.dumps(name) for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
