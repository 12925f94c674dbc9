"""Stack policies on the stacks of an app."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from cdk_rehearsal.deploy._assembly import AssembledStack
from cdk_rehearsal.deploy._comparison import Client
from cdk_rehearsal.deploy._stack_policy import allows, stack_policy
from cdk_rehearsal.guard import protected_resources
from cdk_rehearsal.registry import read


def protect(stacks: Iterable[AssembledStack], client: Client, *, allow: Collection[str] = ()) -> list[str]:
    """Set the stack policy of each stack that exists. Statements of an existing policy stay.

    Args:
        stacks: Stacks of an assembly.
        client: Creates clients; needs cloudformation:GetTemplate, GetStackPolicy and SetStackPolicy.
        allow: Resources that an update may replace or delete: LOGICAL_ID or STACK/LOGICAL_ID.

    Returns:
        What did not succeed: a line for each stack whose policy could not be set, or is too long.
    """
    from botocore.exceptions import ClientError

    problems = []
    for stack, cloudformation, types, names in _deployed(stacks, client):
        held = [name for name in types if name not in allow and f"{stack.name}/{name}" not in allow]
        kept = [name for name in names if name in held]
        others = {*held} - {*names}
        try:
            existing = cloudformation.get_stack_policy(StackName=stack.name).get("StackPolicyBody")
            policy = stack_policy(kept, existing=existing, others=others)
            if policy != existing:
                cloudformation.set_stack_policy(StackName=stack.name, StackPolicyBody=policy)
        except (ClientError, ValueError) as error:
            problems.append(f"{stack.name}: {error}")
    return problems


def unprotected(stacks: Iterable[AssembledStack], client: Client) -> dict[str, str]:
    """Return deployed stacks whose policy lacks resources that `protect` would name: plain `cdk deploy` sets none.

    Args:
        stacks: Stacks of an assembly.
        client: Creates clients; needs cloudformation:GetTemplate and cloudformation:GetStackPolicy.

    Returns:
        Stack -> what an update may replace or delete, or why its policy could not be read.
    """
    from botocore.exceptions import ClientError

    result = {}
    for stack, cloudformation, types, names in _deployed(stacks, client):
        try:
            policy = cloudformation.get_stack_policy(StackName=stack.name).get("StackPolicyBody")
        except ClientError as error:
            result[stack.name] = str(error)
            continue
        free = [
            name
            for name in names
            if any(allows(policy, action, name, types[name]) for action in ("Update:Replace", "Update:Delete"))
        ]
        if free:
            result[stack.name] = ", ".join(free)
    return result


def _deployed(
    stacks: Iterable[AssembledStack], client: Client
) -> Iterator[tuple[AssembledStack, Any, dict[str, str], list[str]]]:
    """Yield stacks that exist, a client, logical id -> type of what they hold, and the ids to protect."""
    from botocore.exceptions import ClientError

    for stack in stacks:
        cloudformation = client("cloudformation", stack.region)
        try:
            answer = cloudformation.get_template(StackName=stack.name, TemplateStage="Original")
        except ClientError as error:
            if "does not exist" in str(error):
                continue
            raise
        # A stack that only has a change set, REVIEW_IN_PROGRESS, has no template yet.
        if not (body := answer.get("TemplateBody")):
            continue
        template = read(body) if isinstance(body, str) else body
        types = {id: resource["Type"] for id, resource in template["Resources"].items()}
        yield stack, cloudformation, types, protected_resources(template)
