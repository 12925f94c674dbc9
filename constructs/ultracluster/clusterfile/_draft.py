"""The valid parts of a cluster file: rules check them even if others are not."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import Catalogue, NodeGroup, node_groups
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile.sections._declared import DeclaredType
from ultracluster.clusterfile.sections._nodes import NodeGroupSection, instance_type_name
from ultracluster.clusterfile.sections._section import Invalid, part_key
from ultracluster.planning.lustre import LustrePlan

_S = TypeVar("_S", bound=BaseModel)
_T = TypeVar("_T")


def until_invalid(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield the errors of a rule until it reads a part that is not valid."""
    with suppress(Invalid):
        yield from problems


def valid(read: Callable[[], _T]) -> _T | None:
    """Return a part of the file, or None if it is not valid."""
    with suppress(Invalid):
        return read()
    return None


class Draft(ClusterFile):
    """A cluster file that may have errors. A part that is missing or not valid raises `Invalid` when it is read.

    Node groups and types are those that are valid; the keys at the top are in `model_fields_set`, valid or not.
    """

    #: Names under `types`, valid or not.
    declared: frozenset[str]
    #: Sections of nodes that are not valid, by name.
    wrong_nodes: frozenset[str]
    #: The type that each section of nodes names, even if its other keys are not valid.
    type_names: dict[str, str]

    @staticmethod
    def of(data: Mapping[str, Any], values: Mapping[Any, Any]) -> "Draft":
        """Collect what is valid.

        Args:
            data: The file.
            values: Valid keys at the top, by field; valid sections, by the identity of the mapping in `data`; and the
                valid parts of other sections, by their `part_key`.
        """
        names = {field.alias or name: name for name, field in ClusterFile.model_fields.items()}
        draft = Draft.model_construct({names.get(key, key) for key in data})
        for key in data.keys() & names.keys():
            draft.__dict__.pop(names[key], None)
        nodes, types = _mapping(data, "nodes"), _mapping(data, "types")
        parts = {names[key]: values.get(part_key(data[key])) for key in data.keys() & names.keys()}
        draft.__dict__.update(
            {"orchestrator": "", "accept": {}, **{name: part for name, part in parts.items() if part is not None}}
        )
        draft.__dict__.update({name: values[name] for name in names.values() if name in values})
        sections = _sections(NodeGroupSection, nodes, values)
        draft.__dict__.update(
            nodes=sections,
            wrong_nodes=frozenset(map(str, nodes.keys() - sections.keys())),
            types=_sections(DeclaredType, types, values),
            declared=frozenset(map(str, types)),
            type_names=dict(_type_names(nodes)),
        )
        return draft

    def drop_nodes_if_wrong(self) -> None:
        """Make the node groups invalid if one of them is not valid: not every check works with those that are left."""
        if self.wrong_nodes or not self.nodes:
            self.__dict__.pop("nodes", None)
            self.__dict__.pop("node_groups", None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ClusterFile.model_fields:
                raise Invalid(name)
            return super().__getattr__(name)

    @cached_property
    def catalogue(self) -> Catalogue:
        """Instance types of this release, and the valid ones of the file."""
        declared = {}
        for name, section in self.types.items():
            with suppress(ValueError):
                declared[name] = section.record(name)
        return Catalogue(declared=declared)

    @cached_property
    def node_groups(self) -> tuple[NodeGroup, ...]:
        """Valid node groups."""
        groups: list[NodeGroup] = []
        zone, image = valid(lambda: self.zone) or "", valid(lambda: self.image) or "aws"
        for name, section in self.nodes.items():
            with suppress(ValueError):
                groups += node_groups(
                    name,
                    section,
                    zone=zone,
                    catalogue=self.catalogue,
                    traits=self.traits,
                    image=image,
                )
        return tuple(groups)

    @property
    def service_count(self) -> int:
        """Number of nodes beside the node groups, or 0 if it is not valid."""
        with suppress(Invalid):
            return super().service_count
        return 0

    @cached_property
    def service_type(self) -> InstanceType:
        """Instance type of the nodes beside the node groups."""
        try:
            name = self.traits.type_of(self.control_plane.service_nodes, valid(lambda: self.region) or "")
            return self.catalogue.look_up(name)[0]
        except ValueError:
            raise Invalid from None

    @cached_property
    def lustre_plan(self) -> LustrePlan | None:
        """New file system, or None."""
        try:
            return super().lustre_plan
        except ValueError:
            raise Invalid from None


def _mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _sections(model: type[_S], items: Mapping[str, Any], values: Mapping[Any, Any]) -> dict[str, _S]:
    """Return the valid sections of a mapping, by name."""
    sections = {name: values.get(id(item)) for name, item in items.items()}
    return {name: section for name, section in sections.items() if isinstance(section, model)}


def _type_names(nodes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, item in nodes.items():
        type = item.get("type") if isinstance(item, dict) else getattr(item, "type", None)
        with suppress(ValueError):
            yield name, instance_type_name(type)
