"""Resources from their registry schemas alone: all values are made up, and a name can be taken once."""

import json
from dataclasses import replace

from cdk_rehearsal.rehearsal._blueprint import Blueprint, Maker
from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._state import Resource
from cdk_rehearsal.rehearsal._values import Values

# Two equal rules of one group: EC2 answers InvalidPermission.Duplicate.
_RULES = ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress")


class SchemaDriver:
    """Creates, updates and deletes resources, and keeps the names of the living ones, those that are retained too."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, ...], str] = {}

    def create(self, blueprint: Blueprint, generation: int) -> Resource:
        if key := _key(blueprint):
            if key in self._taken:
                raise ResourceError(f"{blueprint.type_name} already exists: {key[-1]} belongs to {self._taken[key]}")
            self._taken[key] = f"{blueprint.stack_name}/{blueprint.logical_id}"
        physical_id = Values(blueprint, generation).physical_id
        return Resource(blueprint=blueprint, physical_id=physical_id, maker=Maker.SCHEMA, generation=generation)

    def update(self, old: Resource, blueprint: Blueprint) -> Resource:
        return replace(old, blueprint=blueprint)

    def delete(self, resource: Resource) -> None:
        if key := _key(resource.blueprint):
            self._taken.pop(key, None)

    def attribute(self, resource: Resource, name: str) -> None:
        pass


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
        parents = {name for name in fixed & set(properties) if name.endswith(("Id", "Name", "Workspace"))}
        marks = {name: properties[name] for name in name_keys | parents}
    return (blueprint.type_name, e.account, e.region, json.dumps(marks, sort_keys=True, default=str))
