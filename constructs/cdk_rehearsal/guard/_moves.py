"""Groups of nodes and queues that an update moves to another stack."""

from cdk_rehearsal.guard._sources import Stacks
from cdk_rehearsal.registry import JOB_QUEUES, NEEDS_A_NEW_NAME

_TYPES = (*NEEDS_A_NEW_NAME, *JOB_QUEUES)


def moved_groups(before: Stacks, after: Stacks) -> dict[str, str]:
    """Return STACK/LOGICAL_ID of what leaves one stack and is new in another under the same id -> the new stack."""
    new = {
        (logical_id, resource["Type"]): stack
        for stack, template in after.templates.items()
        for logical_id, resource in template.resources.items()
        if resource["Type"] in _TYPES and not _has(before, stack, logical_id)
    }
    return {
        f"{stack}/{logical_id}": new[logical_id, resource["Type"]]
        for stack, template in before.templates.items()
        for logical_id, resource in template.resources.items()
        if (logical_id, resource["Type"]) in new and not _has(after, stack, logical_id)
    }


def _has(side: Stacks, stack: str, logical_id: str) -> bool:
    return stack in side.templates and logical_id in side.templates[stack].resources
