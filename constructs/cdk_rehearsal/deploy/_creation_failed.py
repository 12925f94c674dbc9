"""Stacks whose creation failed: they hold nothing, and cannot be updated."""

from collections.abc import Iterable

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._comparison import CREATION_FAILED, Client, described


def release_failed(stacks: Iterable[AssembledStack], client: Client) -> list[str]:
    """Lift the termination protection of stacks in ROLLBACK_COMPLETE; return their names.

    The CDK CLI deletes such a stack before it creates it again. It sets termination protection before it executes the
    change set, and CloudFormation refuses to delete a protected stack (read in CLI 2.1148.1, 2026-11-23).

    Args:
        stacks: Stacks of an assembly.
        client: Creates clients; needs cloudformation:DescribeStacks and cloudformation:UpdateTerminationProtection.
    """
    names = []
    for stack in stacks:
        cloudformation = client("cloudformation", stack.region)
        existing = described(cloudformation, stack.name)
        if existing is None or existing["StackStatus"] != CREATION_FAILED:
            continue
        names.append(stack.name)
        if existing.get("EnableTerminationProtection"):
            cloudformation.update_termination_protection(StackName=stack.name, EnableTerminationProtection=False)
    return names
