"""A CloudFormation template: parsed, checked as a whole, its resources in the order of their dependencies."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from cfnlint.helpers import FUNCTION_CONDITIONS, FUNCTIONS, PSEUDOPARAMS

from cdk_rehearsal.registry import SECTIONS, SUBSTITUTION, Registry, UnreadableError, quota_problems, read, walk
from cdk_rehearsal.rehearsal._errors import TemplateError

_RESOURCE_KEYS = (
    "Type",
    "Properties",
    "DependsOn",
    "Condition",
    "Metadata",
    "DeletionPolicy",
    "UpdateReplacePolicy",
    "UpdatePolicy",
    "CreationPolicy",
)
_POLICIES = ("Delete", "Retain", "Snapshot", "RetainExceptOnCreate")
# `Fn::Transform` is a macro, which only AWS expands.
_FUNCTIONS = (FUNCTIONS | FUNCTION_CONDITIONS | {"Fn::EachMemberEquals", "Fn::EachMemberIn"}) - {"Fn::Transform"}


@dataclass(frozen=True, slots=True)
class Reference:
    """Target of one intrinsic: a `Ref` has no attribute, a `Fn::GetAtt` has one."""

    name: str
    attribute: str | None = None


class Template:
    """One template, refused when it is no template at all."""

    def __init__(self, body: Any) -> None:
        if not isinstance(body, dict):
            raise TemplateError("Template format error: the template is not an object")
        if unknown := sorted(set(body) - SECTIONS):
            raise TemplateError(f"Invalid template property or properties {unknown}")
        if not isinstance(body.get("Resources"), dict) or not body["Resources"]:
            raise TemplateError("Template format error: At least one Resources member must be defined.")
        if body.get("Transform"):
            raise TemplateError(f"Transform {body['Transform']} runs at AWS only: a rehearsal cannot expand macros")
        self.body: dict[str, Any] = body
        self.resources: dict[str, dict[str, Any]] = body["Resources"]
        self.parameters: dict[str, dict[str, Any]] = body.get("Parameters") or {}
        self.conditions: dict[str, Any] = body.get("Conditions") or {}
        self.mappings: dict[str, Any] = body.get("Mappings") or {}
        self.outputs: dict[str, dict[str, Any]] = body.get("Outputs") or {}
        self.rules: dict[str, Any] = body.get("Rules") or {}

    @classmethod
    def parse(cls, text: str) -> "Template":
        """Parse JSON, or YAML with CloudFormation's short tags."""
        try:
            return cls(read(text))
        except UnreadableError as error:
            raise TemplateError(f"Template format error: {error}") from error

    def check_quotas(self, text: str) -> None:
        """Raise TemplateError if the template is larger than CloudFormation takes."""
        if problems := list(quota_problems(self.body, text)):
            raise TemplateError("; ".join(problems))

    def check(self, registry: Registry) -> None:
        """Raise TemplateError with every problem that CloudFormation refuses before it creates anything."""
        problems = [*self._shape_problems()]
        if not problems:
            problems = [
                *self._type_problems(registry),
                *self._condition_problems(),
                *self._reference_problems(registry),
            ]
        if problems:
            raise TemplateError("; ".join(problems))
        _ = self.order

    @cached_property
    def order(self) -> list[str]:
        """Logical ids, each after those that it needs; resources in a circle raise TemplateError."""
        graph = {logical_id: self.needs(logical_id) for logical_id in self.resources}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            circle = ", ".join(sorted(set(error.args[1])))
            raise TemplateError(f"Circular dependency between resources: [{circle}]") from error

    def needs(self, logical_id: str) -> list[str]:
        """Return the resources that a resource needs, by reference or `DependsOn`."""
        resource = self.resources[logical_id]
        named = {reference.name for reference in references(resource.get("Properties"))}
        return sorted((named | set(_listed(resource.get("DependsOn")))) & set(self.resources))

    def _shape_problems(self) -> Iterator[str]:
        for logical_id, resource in self.resources.items():
            if not isinstance(resource, dict) or not isinstance(resource.get("Type"), str):
                yield (
                    f"Template format error: [/Resources/{logical_id}] Every Resources object must contain a Type "
                    "member."
                )
                continue
            if not re.fullmatch(r"[A-Za-z0-9]+", logical_id):
                yield f"Template format error: Resource name {logical_id} is non alphanumeric."
            if unknown := sorted(set(resource) - set(_RESOURCE_KEYS)):
                yield f"Invalid template resource property {unknown} in {logical_id}"
            if not isinstance(resource.get("Properties", {}), dict):
                yield f"Template format error: [/Resources/{logical_id}/Properties] must be an object"
            for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
                if isinstance(value := resource.get(policy, "Delete"), str) and value not in _POLICIES:
                    yield f"Template error: {policy} of {logical_id} is {value}; it may be {', '.join(_POLICIES)}"
        for name, output in self.outputs.items():
            if not isinstance(output, dict) or "Value" not in output:
                yield f"Template format error: Output {name} must have a Value"

    def _type_problems(self, registry: Registry) -> Iterator[str]:
        for logical_id, resource in self.resources.items():
            if registry.find(name := resource["Type"]) is None:
                yield (
                    f"Template format error: Unrecognized resource types: [{name}] of {logical_id} in "
                    f"{registry.region}{registry.suggest(name)}"
                )

    def _condition_problems(self) -> Iterator[str]:
        for name, node in self.conditions.items():
            for reference in references(node):
                if reference.attribute or reference.name not in {*self.parameters, *PSEUDOPARAMS}:
                    yield f"Template error: the condition {name} refers to {reference.name}, which is no parameter"
        whole = [self.conditions, self.outputs, *(part.get("Properties") for part in self.resources.values())]
        for key, value in functions(whole):
            if key not in _FUNCTIONS:
                yield f"Template error: {key} is no function of CloudFormation"
            elif key == "Fn::If" and isinstance(value, list) and value and value[0] not in self.conditions:
                yield f"Template error: Fn::If names the condition {value[0]}, which is not in the template"

    def _reference_problems(self, registry: Registry) -> Iterator[str]:
        known = {*self.resources, *self.parameters, *PSEUDOPARAMS}
        for logical_id, resource in self.resources.items():
            if missing := [name for name in _listed(resource.get("DependsOn")) if name not in self.resources]:
                yield (
                    f"Template format error: Unresolved resource dependencies {missing} in the Resources block of the "
                    f"template ({logical_id})"
                )
            if (condition := resource.get("Condition")) and condition not in self.conditions:
                yield f"Template format error: Unresolved condition dependency {condition} of {logical_id}"
        for section, node in (("Resources", self.resources), ("Outputs", self.outputs)):
            for owner, part in node.items():
                content = {key: value for key, value in part.items() if key in ("Properties", "Value", "Export")}
                for reference in sorted(set(references(content)), key=lambda ref: (ref.name, ref.attribute or "")):
                    if reference.name not in known or (reference.attribute and reference.name not in self.resources):
                        yield (
                            f"Template format error: Unresolved resource dependencies [{reference.name}] in the "
                            f"{section} block of the template ({owner})"
                        )
                    elif reference.attribute:
                        yield from self._attribute_problems(reference, registry)

    def _attribute_problems(self, reference: Reference, registry: Registry) -> Iterator[str]:
        name = self.resources[reference.name]["Type"]
        kind = registry.find(name)
        if kind is not None and kind.attribute(reference.attribute or "") is None:
            yield (
                f"Template error: resource {reference.name} ({name}) does not support attribute type "
                f"{reference.attribute} in Fn::GetAtt; it has {', '.join(kind.attributes) or 'none'}"
            )


def references(node: Any) -> Iterator[Reference]:
    """Go through everything that a part of a template refers to by `Ref`, `Fn::GetAtt` or `Fn::Sub`."""
    for key, value in functions(node):
        if key == "Ref" and isinstance(value, str):
            yield Reference(value)
        elif key == "Fn::GetAtt":
            name, attribute = _split_attribute(value)
            yield Reference(name, attribute if isinstance(attribute, str) else None)
        elif key == "Fn::Sub":
            yield from _sub_references(value)


def functions(node: Any) -> Iterator[tuple[str, Any]]:
    """Go through every function of a part of a template, with its argument."""
    for item in walk(node):
        if isinstance(item, dict) and len(item) == 1:
            (key, value), *_ = item.items()
            if key == "Ref" or key.startswith("Fn::"):
                yield key, value


def _split_attribute(value: Any) -> tuple[str, Any]:
    """Split the argument of `Fn::GetAtt`, "Name.Attribute" or ["Name", "Attribute"], into its two parts."""
    parts = value.split(".", 1) if isinstance(value, str) else value
    if not isinstance(parts, list) or len(parts) != 2 or not isinstance(parts[0], str):
        raise TemplateError(f"Template error: Fn::GetAtt accepts a resource and an attribute, not {json.dumps(value)}")
    return parts[0], parts[1]


def _sub_references(value: Any) -> Iterator[Reference]:
    text, given = (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (value, {})
    for literal, name in SUBSTITUTION.findall(text) if isinstance(text, str) else []:
        if not literal and name not in given:
            head, _, attribute = name.strip().partition(".")
            yield Reference(head, attribute or None)


def _listed(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)
