"""Check that resources are in the region and account of what uses them, as far as they are known at synthesis."""

from collections.abc import Callable, Iterator, Mapping

from aws_cdk.interfaces import IEnvironmentAware
from constructs import IConstruct

from ultracluster.planning import OTHER_ACCOUNT, OTHER_REGION, account_of, known, region_of, stack_of
from ultracluster.rules import Message


def check_same_region(scope: IConstruct, resources: Mapping[str, IEnvironmentAware | None]) -> list[Message]:
    """Compare the regions of resources with the region of the stack that uses them.

    A region that is a token is not compared.

    Args:
        scope: The construct that uses the resources, or its scope, whose stack is known already.
        resources: The resources, by the name of the argument that they come from; None is skipped.

    Returns:
        One problem for each resource of another region; empty if none is known to be.
    """
    return [
        OTHER_REGION(f"{argument} must be in {here}, the Region of the stack, got a resource in {there}")
        for argument, here, there in _elsewhere(scope, resources, region_of)
    ]


def check_same_account(scope: IConstruct, resources: Mapping[str, IEnvironmentAware | None]) -> list[Message]:
    """Compare the accounts of resources with the account of the stack that uses them, as `check_same_region` does."""
    return [
        OTHER_ACCOUNT(f"{argument} must be in {here}, the account of the stack, got a resource in {there}")
        for argument, here, there in _elsewhere(scope, resources, account_of)
    ]


def _elsewhere(
    scope: IConstruct, resources: Mapping[str, IEnvironmentAware | None], place_of: Callable[[object], str]
) -> Iterator[tuple[str, str, str]]:
    given = {argument: resource for argument, resource in resources.items() if resource is not None}
    if not given or not known(here := place_of(stack_of(scope))):
        return
    for argument, resource in given.items():
        if known(there := place_of(resource)) and there != here:
            yield argument, here, there
