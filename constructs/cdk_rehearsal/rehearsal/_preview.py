"""Changes of a deployment in advance: the changes of a change set."""

from typing import Any

from cdk_rehearsal.registry import registry
from cdk_rehearsal.rehearsal._errors import ResourceError, TemplateError
from cdk_rehearsal.rehearsal._imports import retained
from cdk_rehearsal.rehearsal._inventory import Inventory
from cdk_rehearsal.rehearsal._scope import StackResolver
from cdk_rehearsal.rehearsal._state import Resource, Stack
from cdk_rehearsal.rehearsal._template import Template

UNKNOWN = "{{changeSet:KNOWN_AFTER_APPLY}}"


class _PreviewResolver(StackResolver):
    """A resolver for which resources that are still to be created have unknown ids and attributes."""

    def reference(self, name: str) -> Any:
        return UNKNOWN if self._unmade(name) else super().reference(name)

    def attribute(self, name: str, attribute: str) -> Any:
        return UNKNOWN if self._unmade(name) else super().attribute(name, attribute)

    def _unmade(self, name: str) -> bool:
        return name in self._template.resources and name not in self._created


def preview(
    inventory: Inventory, stack: Stack, template: Template, values: dict[str, Any], *, imports: bool = False
) -> list[dict[str, Any]]:
    """Return the changes that deploying a template would make, in CloudFormation's form."""
    created: dict[str, Resource] = {}
    resolver = _PreviewResolver(inventory, stack, template, values, created)
    old = stack.resources
    changes: list[dict[str, Any]] = []
    expected = set()
    for logical_id in template.order:
        part = template.resources[logical_id]
        if part.get("Condition") and not resolver.condition(part["Condition"]):
            continue
        expected.add(logical_id)
        if logical_id not in old:
            physical_id = _existing(inventory, stack, part) if imports else None
            changes.append(_change("Import" if physical_id else "Add", logical_id, part["Type"], physical_id))
            continue
        resource = old[logical_id]
        if resource.blueprint.type_name != part["Type"]:
            raise TemplateError(
                f"Update of resource type is not permitted. The new template modifies resource type of the "
                f"following resources: [{logical_id}]"
            )
        before = resource.blueprint.properties
        try:
            after = resolver.resolve(part.get("Properties", {}))
        except (ResourceError, TemplateError):
            # Known only when the deployment has made what this one refers to.
            after = {**before, "": UNKNOWN}
        if before == after:
            created[logical_id] = resource
            continue
        type, sides = resource.blueprint.type, (resource.blueprint.normal, resource.blueprint.type.normal(after))
        replaced = type.replaced_by(*sides)
        if not replaced:
            created[logical_id] = resource
        changes.append(_modification(resource, after, replaced, type.maybe_replaced_by(*sides)))
    for logical_id in reversed(old):
        if logical_id not in expected:
            resource = old[logical_id]
            changes.append(_change("Remove", logical_id, resource.blueprint.type_name, resource.physical_id))
    return changes


def _existing(inventory: Inventory, stack: Stack, part: dict[str, Any]) -> str | None:
    """Return the physical id of the retained resource that a change set would import."""
    kind = registry(stack.environment.region).find(part["Type"])
    match = retained(inventory.stacks, stack.environment, kind, part) if kind else None
    return match[1].physical_id if match else None


def _modification(resource: Resource, after: dict[str, Any], replaced: list[str], maybe: list[str]) -> dict[str, Any]:
    changed = [name for name in resource.blueprint.changed(after) if name]
    always, sometimes = ({path.split(".")[0] for path in paths} for paths in (replaced, maybe))
    unsure = {name for name in changed if UNKNOWN in str(after.get(name))}
    conditional = always <= unsure if replaced else bool(maybe)
    replacement = "Conditional" if conditional else "True" if replaced else "False"
    recreation = {name: "Conditionally" for name in sometimes} | {name: "Always" for name in always}
    details = [
        {
            "Target": {
                "Attribute": "Properties",
                "Name": name,
                "RequiresRecreation": recreation.get(name, "Never"),
            },
            "Evaluation": "Dynamic" if name in unsure else "Static",
            "ChangeSource": "ResourceReference" if name in unsure else "DirectModification",
        }
        for name in changed
    ]
    change = _change("Modify", resource.blueprint.logical_id, resource.blueprint.type_name, resource.physical_id)
    change["ResourceChange"] |= {"Replacement": replacement, "Scope": ["Properties"], "Details": details}
    return change


def _change(action: str, logical_id: str, kind: str, physical_id: str | None = None) -> dict[str, Any]:
    return {
        "Type": "Resource",
        "ResourceChange": {
            "Action": action,
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": physical_id,
            "ResourceType": kind,
            "Scope": [],
            "Details": [],
        },
    }
