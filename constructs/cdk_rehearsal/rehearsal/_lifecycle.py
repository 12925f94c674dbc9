"""Small steps in a resource's life that deployments and deletions share."""

from dataclasses import replace
from typing import Any

from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError
from cdk_rehearsal.rehearsal._journal import Action, Entry, Journal
from cdk_rehearsal.rehearsal._resources import Resources
from cdk_rehearsal.rehearsal._state import Blueprint, Resource, Stack, Stacks

KEPT = ("Retain", "RetainExceptOnCreate")


def remove(stack: Stack, resource: Resource, policy: str, resources: Resources, journal: Journal) -> None:
    """Delete a resource, or retain it if its policy requires that.

    Raises:
        ResourceError: when it cannot be deleted.
    """
    blueprint, physical_id = resource.blueprint, resource.physical_id
    if policy in KEPT:
        stack.event(blueprint.logical_id, physical_id, blueprint.type_name, "DELETE_SKIPPED")
        record(journal, Action.RETAIN, resource)
        stack.retained.append(resource)
        return
    stack.event(blueprint.logical_id, physical_id, blueprint.type_name, "DELETE_IN_PROGRESS")
    try:
        resources.delete(resource)
    except (ResourceError, TemplateError) as error:
        stack.event(blueprint.logical_id, physical_id, blueprint.type_name, "DELETE_FAILED", str(error))
        record(journal, Action.FAIL, resource, str(error))
        raise ResourceError(f"{blueprint.logical_id}: {error}") from error
    stack.event(blueprint.logical_id, physical_id, blueprint.type_name, "DELETE_COMPLETE")
    record(journal, Action.DELETE, resource)


def record(journal: Journal, action: Action, resource: Resource, detail: str = "") -> None:
    """Write down what happened to a resource."""
    blueprint = resource.blueprint
    journal.add(
        Entry(
            action=action,
            stack=blueprint.stack_name,
            logical_id=blueprint.logical_id,
            type=blueprint.type_name,
            physical_id=resource.physical_id,
            maker=resource.maker,
            detail=detail,
        )
    )


def relabelled(old: Resource, blueprint: Blueprint) -> Resource:
    """Return a resource whose properties stay, with the policies that the new template gives it."""
    return replace(old, blueprint=blueprint)


def custom_name(blueprint: Blueprint, old: Resource) -> str | None:
    """Name that keeps a resource from being replaced: a name in the template can exist only once."""
    for path in blueprint.type.identifiers:
        node: Any = blueprint.properties
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        if len(path) != 1 or node is None or node != old.blueprint.properties.get(path[0]):
            return None
    return old.physical_id if blueprint.type.identifiers and old.physical_id else None


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Names of the top-level properties that differ."""
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def refuse_in_use(stacks: Stacks, stack: Stack, export: str, doing: str) -> None:
    """Refuse to change an export that another stack imports.

    Raises:
        TemplateError: when one does.
    """
    if users := stacks.importers(export, stack.environment):
        raise TemplateError(f"Export {export} cannot be {doing} as it is in use by {', '.join(users)}")
