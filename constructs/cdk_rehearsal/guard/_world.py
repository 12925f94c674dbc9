"""All stacks of one side of a comparison, and what has become of their resources so far."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.guard._differences import as_text
from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.guard._values import Values
from cdk_rehearsal.registry import Token, anywhere, composite

#: Stack and logical id.
Place = tuple[str, str]

# An attribute of that name is the resource's own: it lasts as long as the resource does.
_IDENTITY = re.compile(r"(Id|ID|Arn|ARN)$")
_OUTPUTS = "Outputs."
_CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")


class Degree(IntEnum):
    """Reach of a change of a resource among those that refer to it."""

    UPDATED = 1
    UNSURE = 2
    MOVED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """Effect of the update on a resource, for those that refer to it.

    Args:
        degree: UPDATED: its id stays. UNSURE: it may be another resource. MOVED: it is another one, or none.
        why: A clause that follows "which".
        properties: Top-level properties that differ.
    """

    degree: Degree
    why: str
    properties: frozenset[str] = frozenset()


class World:
    """The stacks of one side, and the values of their templates.

    `names` are those that stacks have in an account -> here. Tokens of the new side show what moved since `before`.
    `nested` are the templates of nested stacks, by their resource.
    """

    def __init__(
        self,
        templates: Mapping[str, Template],
        *,
        names: Mapping[str, str],
        nested: Mapping[Place, str] = MappingProxyType({}),
        before: "World | None" = None,
    ) -> None:
        self.templates = templates
        self.nested = nested
        self._parents = {name: place for place, name in nested.items()}
        self.changes: dict[Place, Change] = {}
        #: The resources that values have referred to since this was cleared.
        self.touched: set[Place] = set()
        self._before = before
        self._names = names
        self._values = {stack: Values(stack, template, self) for stack, template in templates.items()}
        self._outputs: dict[Place, tuple[Any, set[Place]]] = {}
        self._open: set[Place] = set()
        self._exports: dict[str, Place] = {}
        self._exports = self._find_exports()

    def change(self, place: Place, change: Change) -> None:
        """Write down what becomes of a resource: from now on, those that refer to it see it."""
        self.changes[place] = change
        self._outputs.clear()

    def outer(self, stack: str) -> Iterator[Place]:
        """Yield the resources of a nested stack and of those that it is in, from the inside."""
        while stack in self._parents:
            place = self._parents[stack]
            yield place
            stack = place[0]

    def value(self, place: Place, key: str) -> Any:
        """Properties or a policy of a resource, resolved, or None."""
        stack, logical_id = place
        return self._values[stack].resolve(self.templates[stack].resources[logical_id].get(key))

    def named(self, property: str, value: Any) -> Place | None:
        """Place of the one resource that has this value of a property. Two may be in two regions, and are ambiguous."""
        places = [
            (stack, logical_id)
            for stack, template in self.templates.items()
            for logical_id, resource in template.resources.items()
            if property in (resource.get("Properties") or {})
            and self._values[stack].resolve(resource["Properties"][property]) == value
        ]
        return places[0] if len(places) == 1 and value is not None else None

    def present(self, place: Place) -> bool | Token:
        """Check that a resource of the template is created, as far as its condition is known."""
        stack, logical_id = place
        name = self.templates[stack].resources[logical_id].get("Condition")
        return True if name is None else self._values[stack].condition(name)

    def resource(self, stack: str, logical_id: str, attribute: str | None) -> Any:
        place, kind = (stack, logical_id), str(self.templates[stack].resources[logical_id]["Type"])
        inner = (self.nested.get(place, ""), (attribute or "").removeprefix(_OUTPUTS))
        if inner[0] and inner[1] in self.templates[inner[0]].outputs:
            return self._output(inner)
        self.touched.add(place)
        known = anywhere(kind)
        if known and [[attribute]] == known.identifiers:
            attribute = None
        owner = f"{stack}/{logical_id}" if stack else logical_id
        label = f"{owner}.{attribute}" if attribute else owner
        key, change = f"{stack} {logical_id}.{attribute or ''}", self.changes.get(place)
        if change is None or (change.degree is Degree.UPDATED and _steady(kind, attribute, change.properties)):
            return Token(key=key, label=label, resource=place)
        if change.degree is Degree.MOVED:
            return Token(key=f"{key} moved", label=label, resource=place, moved=change.why)
        why = f"{label} may become another: {owner} {change.why}"
        return Token(key=f"{key} unsure", label=label, resource=place, unsure=why)

    def parameter(self, stack: str, name: str) -> Any:
        """Value of a parameter: that which a nested stack gets; else another value where its default differs."""
        here = self.templates[stack].parameters[name]
        if stack in self._parents:
            outer, logical_id = self._parents[stack]
            given = (self.templates[outer].resources[logical_id].get("Properties") or {}).get("Parameters")
            if isinstance(given, Mapping) and name in given:
                value = self._values[outer].resolve(given[name])
                return composite("the list", value) if "List" in str(here.get("Type")) else value
        key, label = f"{stack} parameter {name} {here.get('Type')}", f"the parameter {name}"
        old = self._old_template(stack)
        before = old.parameters.get(name) if old else None
        if before is None or _default(before) == _default(here):
            return Token(key=key, label=label)
        secret = "NoEcho" in here or "NoEcho" in before
        change = "" if secret else f" from {_default(before)} to {_default(here)}"
        why = f"the default of {label} changes{change}; whether the stack uses it depends on how it is deployed"
        return Token(key=f"{key} unsure", label=label, unsure=why)

    def mapping(self, stack: str, name: str | None) -> Token:
        """Stand-in for the contents of a mapping; entries that are only added leave it as it was."""
        here = self.templates[stack].mappings
        contents: Any = here.get(name) if name else here
        old = self._old_template(stack)
        before: Any = (old.mappings.get(name) if name else old.mappings) if old else None
        label = f"the mapping {name}" if name else "the mappings"
        if old is None or _keeps(before, contents):
            return Token(key=composite("mapping", before if old else contents).key, label=label)
        return Token(key=composite("mapping", contents).key, label=label, unsure=f"{label} changes")

    def export(self, name: str) -> Any:
        """Value that a stack of this side exports under a name, or None."""
        place = self._exports.get(name)
        return self._output(place) if place else None

    def output(self, stack_name: str, output: str) -> Any:
        stack = self._names.get(stack_name, stack_name)
        known = self.templates.get(stack)
        return self._output((stack, output)) if known and output in known.outputs else None

    def _output(self, place: Place) -> Any:
        if place in self._open:
            return composite("an output of itself", *place)
        if place not in self._outputs:
            stack, name = place
            others, self.touched = self.touched, set()
            self._open.add(place)
            value = self._values[stack].resolve(self.templates[stack].outputs[name].get("Value"))
            self._open.remove(place)
            self._outputs[place] = value, self.touched
            self.touched = others
        value, touched = self._outputs[place]
        self.touched |= touched
        return value

    def _find_exports(self) -> dict[str, Place]:
        exports: dict[str, list[Place]] = {}
        for stack, template in self.templates.items():
            for output, body in template.outputs.items():
                export = body.get("Export")
                name = self._values[stack].resolve(export.get("Name")) if isinstance(export, dict) else None
                if isinstance(name, str):
                    exports.setdefault(name, []).append((stack, output))
        # The same name in two regions is ambiguous.
        return {name: places[0] for name, places in exports.items() if len(places) == 1}

    def _old_template(self, stack: str) -> Template | None:
        return self._before.templates.get(stack) if self._before else None


def _steady(kind: str, attribute: str | None, changed: frozenset[str]) -> bool:
    """Check that an id or attribute outlasts an update in place of these properties."""
    if kind.startswith(_CUSTOM):
        return False
    if attribute is None or _IDENTITY.search(attribute):
        return True
    known = anywhere(kind)
    if known is None:
        return False
    path = attribute.split(".")
    if path in known.fixed_attributes:
        return True
    given_by_aws = any(path[: len(listed)] == listed[: len(path)] for listed in known.read_only)
    return not given_by_aws and path[0] in known.property_names and path[0] not in changed


def _keeps(before: Any, after: Any) -> bool:
    if isinstance(before, dict):
        return isinstance(after, dict) and all(key in after and _keeps(before[key], after[key]) for key in before)
    return before is not None and bool(before == after)


def _default(parameter: Mapping[str, Any]) -> str:
    return as_text(str(parameter["Default"])) if "Default" in parameter else "none"
