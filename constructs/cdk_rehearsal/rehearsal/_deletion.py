"""Deletion of stacks of which AWS refuses a part, as a person does it."""

from collections.abc import Callable, Collection, Iterable, Sequence

from cdk_rehearsal.deploy import AssembledStack, CliResult
from cdk_rehearsal.registry import DELETION_PROTECTION
from cdk_rehearsal.rehearsal._adoption import around_networks
from cdk_rehearsal.rehearsal._cloud import LocalCloud
from cdk_rehearsal.rehearsal._failure_steps import leftovers
from cdk_rehearsal.rehearsal._interfaces import delete_holders
from cdk_rehearsal.rehearsal._state import Stack


def lift(stack: Stack) -> list[str]:
    """Turn off the protection of a stack and of its resources."""
    stack.protected = False
    for resource in stack.resources.values():
        resource.blueprint.properties.pop(DELETION_PROTECTION.get(resource.blueprint.type_name, ""), None)
    return []


def paths_of(names: Collection[str], stacks: Iterable[AssembledStack]) -> list[str]:
    """Return the paths by which the CLI selects stacks; that of a stack in a Stage is not its name."""
    paths = {stack.path: stack.name for stack in stacks}
    return [path for path, name in paths.items() if name in names] or [*names]


def not_destroyed(result: CliResult) -> list[str]:
    """Return the problems of `cdk destroy`, which ends with success if no stack matches."""
    return result.problems or [line for line in result.output.splitlines() if line.startswith("No stacks match")]


def destroy(
    cloud: LocalCloud, by_cli: Callable[[Sequence[str]], list[str]], *, every: str, leave_out: frozenset[str]
) -> list[str]:
    """Destroy all stacks: those with subnets of retained file systems last, after the file systems.

    Args:
        cloud: The local cloud.
        by_cli: Destroys stacks by name, and returns the problems.
        every: The CLI's name of all stacks.
        leave_out: Stacks that are not the app's.

    Returns:
        The problems.
    """
    around = around_networks(cloud.stacks, leave_out=leave_out)
    last = [stack for stack in cloud.stacks.living() if stack.name not in (*around, *leave_out)]
    names = around if last else [every]
    if names and (problems := by_cli(names)):
        return problems
    _delete_held(cloud, last)
    left = [stack.name for stack in cloud.stacks.living() if stack.name not in leave_out]
    problems = [f"the CLI reports success, but the stack {name} is still there" for name in left]
    return problems or leftovers(cloud.journal.entries(), leave_out)


def _delete_held(cloud: LocalCloud, stacks: Sequence[Stack]) -> None:
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
