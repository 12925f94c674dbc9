"""Requirements of services that resources of templates violate, references followed as far as the templates show."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_rehearsal.guard._role_policies import role_problems
from cdk_rehearsal.guard._sources import Stacks
from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.guard._world import Place, World
from cdk_rehearsal.registry import (
    NO_TEMPLATE_RULES,
    TemplateRules,
    Token,
    anywhere,
    service_problems,
    template_problems,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A requirement of a service that a resource violates.

    Args:
        stack: Name of the stack.
        logical_id: Logical id of the resource.
        type: Its type.
        problem: `#/PATH: REASON`.
    """

    stack: str
    logical_id: str
    type: str
    problem: str

    @property
    def path(self) -> list[str]:
        """Path of the property, such as `["StorageCapacity"]`."""
        return self.problem.partition(":")[0].removeprefix("#/").split("/")

    @property
    def reason(self) -> str:
        """Reason without the path."""
        return self.problem.partition(": ")[2]

    def __str__(self) -> str:
        name = f"{self.stack}/{self.logical_id}" if self.stack else self.logical_id
        return f"{name} ({self.type}): the service refuses it: {self.problem}"


def refusals(
    templates: Mapping[str, Mapping[str, Any]], *, template_rules: TemplateRules = NO_TEMPLATE_RULES
) -> list[Refusal]:
    """Return what services refuse in templates, by stack name.

    Args:
        templates: Templates by stack name.
        template_rules: Resource type -> rules for a resource and others that it refers to, beyond those of services.

    Raises:
        GuardError: If one of them is not a template.
    """
    known = {name: Template.of(body) for name, body in templates.items()}
    stacks = Stacks(templates=known, names={}, skipped=(), many=True)
    return [*refusals_of(stacks, template_rules=template_rules)]


def refusals_of(
    stacks: Stacks,
    *,
    without: Container[Place] = (),
    template_rules: TemplateRules = NO_TEMPLATE_RULES,
    schemas: bool = False,
) -> Iterator[Refusal]:
    """Yield what services refuse in the resources of stacks, but not in those `without` that refer to such only."""
    world = World(stacks.templates, names=stacks.names, nested=stacks.nested)
    for stack, template in stacks.templates.items():
        for logical_id, resource in template.resources.items():
            place, type = (stack, logical_id), resource["Type"]
            if place in without and type not in template_rules:
                continue
            properties, others = world.value(place, "Properties") or {}, _Others(world)
            problems = template_problems(type, properties, others.find, template_rules)
            if place in without:
                problems = [] if all(other in without for other in others.found) else problems
            else:
                problems = [*_own_problems(type, properties, schemas), *problems]
            for problem in problems:
                yield Refusal(stack=stack, logical_id=logical_id, type=type, problem=problem)
    for (stack, logical_id), problem in role_problems(world, without):
        type = stacks.templates[stack].resources[logical_id]["Type"]
        yield Refusal(stack=stack, logical_id=logical_id, type=type, problem=problem)


def _own_problems(type: str, properties: Mapping[str, Any], schemas: bool) -> list[str]:
    known = anywhere(type) if schemas else None
    return (known.problems(dict(properties)) if known else []) or service_problems(type, properties)


class _Others:
    """Resources that a resource refers to."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.found: list[Place] = []

    def find(self, value: Any, property: str | None = None) -> tuple[str, Mapping[str, Any]] | None:
        """Return name and properties of the resource whose id, attribute or named property a value is, or None."""
        referred = value.resource if isinstance(value, Token) else None
        place = self._world.named(property, value) if property else referred
        if place is None:
            return None
        self.found.append(place)
        return "/".join(filter(None, place)), self._world.value(place, "Properties") or {}
