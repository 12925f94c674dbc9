"""Requirements of services that resources of templates violate, references followed as far as the templates show."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_rehearsal.guard._sources import Stacks
from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.guard._world import Place, World
from cdk_rehearsal.registry import service_problems


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


def refusals(templates: Mapping[str, Mapping[str, Any]]) -> list[Refusal]:
    """Return what services refuse in templates, by stack name.

    Raises:
        GuardError: If one of them is not a template.
    """
    known = {name: Template.of(body) for name, body in templates.items()}
    return [*refusals_of(Stacks(templates=known, names={}, skipped=(), many=True))]


def refusals_of(stacks: Stacks, *, without: Container[Place] = ()) -> Iterator[Refusal]:
    """Yield what services refuse in the resources of stacks, but not in those `without`."""
    world = World(stacks.templates, names=stacks.names)
    for stack, template in stacks.templates.items():
        for logical_id, resource in template.resources.items():
            if (stack, logical_id) in without:
                continue
            for problem in service_problems(resource["Type"], world.value((stack, logical_id), "Properties") or {}):
                yield Refusal(stack=stack, logical_id=logical_id, type=resource["Type"], problem=problem)
