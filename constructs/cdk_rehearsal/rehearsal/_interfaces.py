"""Network interfaces of retained resources: EC2 deletes neither their subnets nor their security groups.

See: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSubnet.html (read 2026-11-23)
"""

from collections.abc import Iterable

from cdk_rehearsal.rehearsal._state import Resource, Stack

_HELD = ("AWS::EC2::Subnet", "AWS::EC2::SecurityGroup")
_LISTS = ("SubnetIds", "SecurityGroupIds")


def uses(resource: Resource) -> set[str]:
    """Return the ids of the subnets and security groups of a resource's network interfaces."""
    lists = (resource.blueprint.properties.get(name) for name in _LISTS)
    return {str(id) for ids in lists if isinstance(ids, list) for id in ids}


def holders(stacks: Iterable[Stack], resource: Resource) -> list[Resource]:
    """Return the retained resources without whose deletion EC2 does not delete a subnet or a security group."""
    if resource.blueprint.type_name not in _HELD:
        return []
    return [kept for stack in stacks for kept in stack.retained if resource.physical_id in uses(kept)]


def delete_holders(stacks: Iterable[Stack]) -> bool:
    """Forget the retained resources that hold a subnet or security group, as if a person had deleted them.

    Returns:
        Whether there were any.
    """
    every = list(stacks)
    held = [kept for stack in every for item in stack.resources.values() for kept in holders(every, item)]
    for stack in every:
        stack.retained = [kept for kept in stack.retained if not any(kept is other for other in held)]
    return bool(held)
