"""Deletion of stacks of which AWS refuses a part, as a person does it."""

from collections.abc import Sequence

from cdk_rehearsal.registry import DELETION_PROTECTION
from cdk_rehearsal.rehearsal._cloud import LocalCloud
from cdk_rehearsal.rehearsal._interfaces import delete_holders
from cdk_rehearsal.rehearsal._state import Stack


def lift(stack: Stack) -> list[str]:
    """Turn off the protection of a stack and of its resources."""
    stack.protected = False
    for resource in stack.resources.values():
        resource.blueprint.properties.pop(DELETION_PROTECTION.get(resource.blueprint.type_name, ""), None)
    return []


def delete_held(cloud: LocalCloud, stacks: Sequence[Stack]) -> None:
    """Delete retained file systems, then the stacks whose subnets they held."""
    delete_holders(cloud.stacks)
    _delete(cloud, stacks)
    # A stack that has both is deleted twice, as on AWS.
    if delete_holders(cloud.stacks):
        _delete(cloud, stacks)


def _delete(cloud: LocalCloud, stacks: Sequence[Stack]) -> None:
    for stack in stacks:
        place = stack.environment
        cloud.client("cloudformation", place.region, place.account).delete_stack(StackName=stack.id)
