"""Import of existing resources: a change set with ImportExistingResources takes over what an earlier stack retained.

See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-automatically.html
(read 2026-11-23)
"""

from collections.abc import Mapping
from typing import Any

from cdk_rehearsal.registry import ResourceType
from cdk_rehearsal.rehearsal._blueprint import Environment
from cdk_rehearsal.rehearsal._state import Resource, Stack, Stacks

_KEPT = ("Retain", "RetainExceptOnCreate")


def retained(
    stacks: Stacks, environment: Environment, kind: ResourceType, resource: Mapping[str, Any]
) -> tuple[Stack, Resource] | None:
    """Return the retained resource that a template names, and the stack that it is left over from, or None.

    Args:
        stacks: Stacks of the local cloud, deleted ones included.
        environment: Account and region of the new resource.
        kind: Type of the new resource.
        resource: The new resource in its template: only a name without intrinsic functions counts, and only with a
            deletion policy that retains.
    """
    properties = resource.get("Properties", {})
    names = [path[0] for path in kind.identifiers if len(path) == 1]
    named = bool(names) and all(isinstance(properties.get(name), str) for name in names)
    if not named or resource.get("DeletionPolicy") not in _KEPT:
        return None
    for stack in stacks.all(environment):
        for existing in stack.retained:
            description = existing.blueprint
            same = description.type_name == resource["Type"]
            if same and all(description.properties.get(name) == properties[name] for name in names):
                return stack, existing
    return None
