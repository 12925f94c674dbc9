"""Adoption: the next deployment uses what an earlier one retained, in the network that was kept for it."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cdk_rehearsal.rehearsal._interfaces import uses
from cdk_rehearsal.rehearsal._state import Resource, Stack
from cdk_rehearsal.rehearsal._update import Edit

_KEPT = ("Retain", "RetainExceptOnCreate")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A resource that was retained.

    Args:
        type: Resource type.
        physical_id: Its id.
        properties: Properties, with every intrinsic function resolved.
        attribute: Returns an attribute by its name.
    """

    type: str
    physical_id: str
    properties: dict[str, Any]
    attribute: Callable[[str], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adoption:
    """Plug-in for the step that deploys again on retained resources.

    Args:
        name: Name of the edit in the report.
        edit: Takes a scratch directory and the retained resources, writes the edited input there, and returns the
            edit. It raises RehearsalError if nothing can be adopted.
    """

    name: str
    edit: Callable[[Path, tuple[Kept, ...]], Edit]


def kept(stacks: Iterable[Stack]) -> tuple[Kept, ...]:
    """Return what the stacks retained."""
    return tuple(_kept(resource) for stack in stacks for resource in stack.retained)


def _kept(resource: Resource) -> Kept:
    return Kept(
        type=resource.blueprint.type_name,
        physical_id=resource.physical_id,
        properties=resource.blueprint.properties,
        attribute=lambda name: resource.values.at(name.split(".")),
    )


def around_networks(stacks: Iterable[Stack], *, leave_out: Container[str]) -> list[str]:
    """Return the names of the stacks that can be deleted while what they retain keeps its network interfaces.

    EC2 deletes no subnet that is in use. See
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSubnet.html (read 2026-11-23).
    """
    every = list(stacks)
    living = [stack for stack in every if stack.deleted is None]
    retained = [resource for stack in every for resource in stack.retained]
    retained += [
        resource
        for stack in living
        for resource in stack.resources.values()
        if resource.blueprint.deletion_policy in _KEPT
    ]
    interfaces = {id for resource in retained for id in uses(resource)}
    return [
        stack.name
        for stack in living
        if stack.name not in leave_out
        and not any(
            resource.blueprint.type_name == "AWS::EC2::Subnet" and resource.physical_id in interfaces
            for resource in stack.resources.values()
        )
    ]
