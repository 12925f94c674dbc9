"""Stacks and resources of one local cloud, without the means to deploy them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cdk_rehearsal.registry import TemplateRules, UpdateRules, inline_size, role_problem, roles_of, template_problems
from cdk_rehearsal.rehearsal._blueprint import Blueprint, Environment, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError
from cdk_rehearsal.rehearsal._interfaces import holders
from cdk_rehearsal.rehearsal._journal import Action, Journal
from cdk_rehearsal.rehearsal._resources import Resources
from cdk_rehearsal.rehearsal._state import Resource, Stack, Stacks


@dataclass(kw_only=True)
class Inventory:
    """Stacks and resources."""

    stacks: Stacks
    journal: Journal
    resources: Resources
    update_rules: UpdateRules
    template_rules: TemplateRules

    def check(self, blueprint: Blueprint) -> None:
        """Raise ResourceError if a resource does not fit the ones that it refers to."""
        find = partial(self._find, blueprint.environment)
        problems = template_problems(blueprint.type_name, blueprint.properties, find, self.template_rules)
        problems += self._role_problems(blueprint)
        if problems:
            raise ResourceError(f"{blueprint.type_name} refuses it: {', '.join(problems)}")

    def _find(
        self, environment: Environment, value: Any, property: str | None = None
    ) -> tuple[str, Mapping[str, Any]] | None:
        """Return name and properties of a resource as it is deployed now, by physical id or property, or None."""
        for stack in self.stacks.living(environment) if value is not None else ():
            for resource in (stack.resources | stack.pending).values():
                properties = resource.blueprint.properties
                if properties.get(property) == value if property else value in ids_of(resource):
                    return f"{stack.name}/{resource.blueprint.logical_id}", properties
        return None

    def _role_problems(self, blueprint: Blueprint) -> Iterator[str]:
        """Yield the quota of inline policies that a resource exceeds together with those that its roles have."""
        kind, here = blueprint.type_name, _place(blueprint)
        resources = [
            resource
            for stack in self.stacks.living(blueprint.environment)
            for resource in (stack.resources | stack.pending).values()
        ]
        roles = roles_of(kind, blueprint.properties)
        if kind == "AWS::IAM::Role":
            roles = [resource.physical_id for resource in resources if _place(resource.blueprint) == here] or [here]
        for role in roles:
            sizes = {here: inline_size(kind, blueprint.properties)}
            for other in resources:
                there = other.blueprint
                if role in (other.physical_id, *roles_of(there.type_name, there.properties)):
                    sizes.setdefault(_place(there), inline_size(there.type_name, there.properties))
            if problem := role_problem(role, sizes):
                yield f"#/PolicyDocument: {problem}"

    def remove(self, stack: Stack, resource: Resource, policy: str) -> None:
        """Delete a resource, or retain it if its policy requires that; raise ResourceError if that fails."""
        event = partial(stack.event, resource.blueprint.logical_id, resource.physical_id, resource.blueprint.type_name)
        if policy in ("Retain", "RetainExceptOnCreate"):
            event("DELETE_SKIPPED")
            self.journal.record(Action.RETAIN, resource)
            stack.retained.append(resource)
            return
        event("DELETE_IN_PROGRESS")
        if held := holders(self.stacks, resource):
            names = ", ".join(f"{kept.blueprint.stack_name}/{kept.blueprint.logical_id}" for kept in held)
            reason = f"{resource.physical_id} has dependencies and cannot be deleted: network interfaces of {names}"
            event("DELETE_FAILED", reason)
            self.journal.note(
                f"{names} was retained and has network interfaces in {stack.name}/{resource.blueprint.logical_id}: "
                "delete it by hand before the stack"
            )
            raise ResourceError(f"{resource.blueprint.logical_id}: {reason}")
        try:
            self.resources.delete(resource)
        except (ResourceError, TemplateError) as error:
            event("DELETE_FAILED", str(error))
            self.journal.record(Action.FAIL, resource, str(error))
            raise ResourceError(f"{resource.blueprint.logical_id}: {error}") from error
        event("DELETE_COMPLETE")
        self.journal.record(Action.DELETE, resource)


def _place(blueprint: Blueprint) -> str:
    return f"{blueprint.stack_name}/{blueprint.logical_id}"


def ids_of(resource: Resource) -> Iterator[str]:
    """Yield the ids of a resource: what `Ref` gives, and the attribute `Id` of types whose `Ref` is an ARN."""
    yield resource.physical_id
    if resource.maker is Maker.SCHEMA and resource.blueprint.type.attribute("Id"):
        yield str(resource.values.at(["Id"]))
