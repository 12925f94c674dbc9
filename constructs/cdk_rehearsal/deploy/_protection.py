"""Stack policies on the stacks of an app."""

from collections.abc import Collection, Iterable
from typing import Any

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._comparison import Client
from cdk_rehearsal.deploy._stack_policy import stack_policy
from cdk_rehearsal.guard import protected_resources
from cdk_rehearsal.registry import read


def protect(stacks: Iterable[AssembledStack], client: Client, *, allow: Collection[str] = ()) -> list[str]:
    """Set the stack policy of each stack that exists.

    Args:
        stacks: Stacks of an assembly.
        client: Creates clients; needs cloudformation:GetTemplate and cloudformation:SetStackPolicy.
        allow: Resources that an update may replace or delete: LOGICAL_ID or STACK/LOGICAL_ID.

    Returns:
        What did not succeed: a line for each stack whose policy could not be set.
    """
    from botocore.exceptions import ClientError

    problems = []
    for stack in stacks:
        cloudformation = client("cloudformation", stack.region)
        try:
            names = _protected(cloudformation, stack.name)
        except ClientError as error:
            if "does not exist" in str(error):
                continue
            raise
        kept = [name for name in names if name not in allow and f"{stack.name}/{name}" not in allow]
        try:
            cloudformation.set_stack_policy(StackName=stack.name, StackPolicyBody=stack_policy(kept))
        except ClientError as error:
            problems.append(f"{stack.name}: {error}")
    return problems


def _protected(cloudformation: Any, name: str) -> list[str]:
    body = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    return protected_resources(read(body) if isinstance(body, str) else body)
