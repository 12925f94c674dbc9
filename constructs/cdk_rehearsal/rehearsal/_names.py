"""Names that are taken: a service gives a name once, whichever stack asks."""

import json

from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._state import Blueprint, Resource

# Two equal rules of one group: EC2 answers InvalidPermission.Duplicate.
_RULES = ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress")


class Names:
    """The names of living resources, those that a policy retained among them."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, ...], str] = {}

    def take(self, blueprint: Blueprint) -> None:
        """Note the name of a resource that is about to be made.

        Raises:
            ResourceError: when another one has it.
        """
        if (key := _key(blueprint)) is None:
            return
        if key in self._taken:
            raise ResourceError(f"{blueprint.type_name} already exists: {key[-1]} is taken by {self._taken[key]}")
        self._taken[key] = f"{blueprint.stack_name}/{blueprint.logical_id}"

    def free(self, resource: Resource) -> None:
        """Forget the name of a resource that is gone."""
        if (key := _key(resource.blueprint)) is not None:
            self._taken.pop(key, None)


def _key(blueprint: Blueprint) -> tuple[str, ...] | None:
    """Properties that make the resource unique, or None where the template gives it no name of its own."""
    properties, e = blueprint.properties, blueprint.environment
    if blueprint.type_name in _RULES:
        marks = {name: value for name, value in properties.items() if name != "Description"}
    else:
        name_keys = {"Name", f"{blueprint.type_name.split('::')[2]}Name"} & set(properties)
        fixed = {pointer.split("/")[2] for pointer in blueprint.type.body.get("createOnlyProperties", [])}
        if not name_keys & fixed:
            return None
        # A name is one of its parent's: the node groups of two clusters may share theirs.
        parents = {name for name in fixed & set(properties) if name.endswith(("Id", "Name"))}
        marks = {name: properties[name] for name in name_keys | parents}
    return (blueprint.type_name, e.account, e.region, json.dumps(marks, sort_keys=True, default=str))
