"""The parts of a cluster file that could be read: everything that is wrong with a file is told at once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ultracluster.clusterfile import node_readers, readers
from ultracluster.clusterfile.catalogue import Catalogue
from ultracluster.clusterfile.declared import DeclaredType
from ultracluster.clusterfile.node_group import NodeGroup, node_groups
from ultracluster.clusterfile.sections import Network, NodeGroupSection, Notifications, Slurm
from ultracluster.clusterfile.storage_sections import Storage
from ultracluster.hardware import InstanceType

_S = TypeVar("_S", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The parts of a file that could be read. None: it could not be, or is not there."""

    region: str | None
    zone: str | None
    #: Names of the types that the file declares, rightly or wrongly.
    declared: frozenset[str]
    types: Mapping[str, DeclaredType]
    catalogue: Catalogue
    #: The type that each section of nodes names.
    named: Mapping[str, str]
    sections: Mapping[str, NodeGroupSection]
    groups: tuple[NodeGroup, ...]
    slurm: Slurm | None
    network: Network | None
    storage: Storage | None
    notifications: Notifications | None
    encryption_key: str | None

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Draft":
        """Read what can be read."""
        types = _sections(DeclaredType, data.get("types"))
        catalogue = Catalogue(declared=dict(_declared(types)))
        sections = _sections(NodeGroupSection, data.get("nodes"))
        zone = _value(readers.zone_id, data.get("zone"))
        return Draft(
            region=_value(readers.region, data.get("region")),
            zone=zone,
            declared=frozenset(map(str, data["types"])) if isinstance(data.get("types"), dict) else frozenset(),
            types=types,
            catalogue=catalogue,
            named=_named(data.get("nodes")),
            sections=sections,
            groups=tuple(_groups(sections, zone or "", catalogue)),
            slurm=_section(Slurm, data.get("slurm", {})),
            network=_section(Network, data.get("network", {})),
            storage=_section(Storage, data.get("storage", {})),
            notifications=_section(Notifications, data.get("notifications", {})),
            encryption_key=_value(readers.key_arn, data.get("encryption-key")),
        )

    @property
    def login_type(self) -> InstanceType | None:
        """The type of the login nodes. None: there is no such type."""
        try:
            return self.catalogue.look_up(self.slurm.login.type)[0] if self.slurm else None
        except ValueError:
            return None


def _named(nodes: object) -> dict[str, str]:
    items = nodes.items() if isinstance(nodes, dict) else ()
    read = {
        name: _value(node_readers.instance_type_name, raw.get("type")) for name, raw in items if isinstance(raw, dict)
    }
    return {name: type for name, type in read.items() if type is not None}


def _declared(types: Mapping[str, DeclaredType]) -> Iterator[tuple[str, InstanceType]]:
    for name, declared in types.items():
        if not declared.missing():
            try:
                yield name, declared.record(name)
            except ValueError:
                continue


def _groups(sections: Mapping[str, NodeGroupSection], zone: str, catalogue: Catalogue) -> Iterator[NodeGroup]:
    for name, section in sections.items():
        try:
            yield from node_groups(name, section, zone=zone, catalogue=catalogue)
        except ValueError:
            continue


def _value(read: Callable[[object], str], value: object) -> str | None:
    try:
        return read(value)
    except ValueError:
        return None


def _section(model: type[_S], value: object) -> _S | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _sections(model: type[_S], value: object) -> dict[str, _S]:
    """The sections of a mapping that can be read, by name."""
    items = value.items() if isinstance(value, dict) else ()
    return {name: section for name, raw in items if (section := _section(model, raw)) is not None}
