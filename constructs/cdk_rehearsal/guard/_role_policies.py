"""Inline policies of roles over all stacks of one side."""

from collections.abc import Container, Iterator

from cdk_rehearsal.guard._world import Place, World
from cdk_rehearsal.registry import Token, inline_size, role_problem, roles_of

_TYPES = ("AWS::IAM::Policy", "AWS::IAM::Role", "AWS::IAM::RolePolicy")


def role_problems(world: World, without: Container[Place]) -> Iterator[tuple[Place, str]]:
    """Yield the largest new policy of each role whose inline policies exceed the quota, and the problem."""
    sizes: dict[Place, dict[Place, int]] = {}
    for stack, template in world.templates.items():
        for logical_id, resource in template.resources.items():
            place, type = (stack, logical_id), str(resource["Type"])
            if type not in _TYPES:
                continue
            roles = [place] if type == "AWS::IAM::Role" else _roles(world, place, type)
            for role in roles:
                sizes.setdefault(role, {})[place] = inline_size(type, resource.get("Properties") or {})
    for role, parts in sizes.items():
        new = [place for place in parts if place not in without]
        name = _name(role) if role[0] in world.templates else role[1]
        problem = role_problem(name, {_name(place): size for place, size in parts.items()})
        if problem and new:
            yield max(new, key=lambda place: parts[place]), f"#/PolicyDocument: {problem}"


def _roles(world: World, place: Place, type: str) -> Iterator[Place]:
    for role in roles_of(type, world.value(place, "Properties") or {}):
        if isinstance(role, Token):
            if role.resource:
                yield role.resource
        elif isinstance(role, str):
            # Stages are in folders of their own, and mostly in accounts of their own: a name there is another role.
            yield world.named("RoleName", role) or (place[0].rpartition("/")[0], role)


def _name(place: Place) -> str:
    return "/".join(filter(None, place))
