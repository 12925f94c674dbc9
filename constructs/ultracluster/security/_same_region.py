"""Check that resources are in the region of what uses them, as far as it is known at synthesis."""

from collections.abc import Mapping

from aws_cdk.interfaces import IEnvironmentAware
from constructs import IConstruct

from ultracluster.planning import OTHER_REGION, known, region_of, stack_of
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
    given = {argument: resource for argument, resource in resources.items() if resource is not None}
    if not given or (stack := stack_of(scope)) is None or not known(region := region_of(stack)):
        return []
    return [
        OTHER_REGION(f"{argument} must be in {region}, the Region of the stack, got a resource in {there}")
        for argument, resource in given.items()
        if known(there := region_of(resource)) and there != region
    ]
