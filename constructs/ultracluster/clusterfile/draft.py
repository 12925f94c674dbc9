"""The parts of a cluster file that could be read: everything that is wrong with a file is told at once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ultracluster.clusterfile.catalogue import Catalogue
from ultracluster.clusterfile.node_group import KUBERNETES, NodeGroup, node_groups
from ultracluster.clusterfile.readers import nodes as node_readers
from ultracluster.clusterfile.readers import values as readers
from ultracluster.clusterfile.sections.declared import DeclaredType
from ultracluster.clusterfile.sections.file import Login, Network, NodeGroupSection, Notifications, Slurm
from ultracluster.clusterfile.sections.kubernetes import Kubernetes, SystemNodes
from ultracluster.clusterfile.sections.observability import Observability
from ultracluster.clusterfile.sections.storage import Storage
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
    #: None: it could not be read.
    orchestrator: str | None
    #: What stands at the top of the file, rightly or wrongly.
    top_keys: frozenset[str]
    slurm: Slurm | None
    kubernetes: Kubernetes | None
    network: Network | None
    storage: Storage | None
    notifications: Notifications | None
    observability: Observability | None
    encryption_key: str | None

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Draft":
        """Read what can be read."""
        types = _sections(DeclaredType, data.get("types"))
        catalogue = Catalogue(declared=dict(_declared(types)))
        sections = _sections(NodeGroupSection, data.get("nodes"))
        zone = _value(readers.zone_id, data.get("zone"))
        orchestrator = _value(readers.orchestrator, data.get("orchestrator"))
        return Draft(
            region=_value(readers.region, data.get("region")),
            zone=zone,
            declared=frozenset(map(str, data["types"])) if isinstance(data.get("types"), dict) else frozenset(),
            types=types,
            catalogue=catalogue,
            named=_named(data.get("nodes")),
            sections=sections,
            groups=tuple(_groups(sections, zone or "", catalogue, orchestrator or "")),
            orchestrator=orchestrator,
            top_keys=frozenset(map(str, data)),
            slurm=_section(Slurm, data.get("slurm", {})),
            kubernetes=_section(Kubernetes, data.get("kubernetes", {})),
            network=_section(Network, data.get("network", {})),
            storage=_section(Storage, data.get("storage", {})),
            notifications=_section(Notifications, data.get("notifications", {})),
            observability=_section(Observability, data.get("observability", {})),
            encryption_key=_value(readers.key_arn, data.get("encryption-key")),
        )

    @property
    def service_nodes(self) -> Login | SystemNodes | None:
        """The nodes beside the node groups: login nodes under Slurm, system nodes under Kubernetes."""
        if self.orchestrator == KUBERNETES:
            return self.kubernetes.system if self.kubernetes else None
        return self.slurm.login if self.slurm else None

    @property
    def service_count(self) -> int:
        """How many there are: a Kubernetes cluster of yours has its own. 0 too where they could not be read."""
        nodes = self.service_nodes
        own = self.orchestrator == KUBERNETES and self.kubernetes is not None and self.kubernetes.existing is not None
        return 0 if nodes is None or own else nodes.count

    @property
    def service_path(self) -> tuple[str, str]:
        """Where the file speaks of them."""
        return (KUBERNETES, "system") if self.orchestrator == KUBERNETES else ("slurm", "login")

    @property
    def service_type(self) -> InstanceType | None:
        """Their type. None: there is no such type."""
        nodes = self.service_nodes
        try:
            return self.catalogue.look_up(nodes.type)[0] if nodes else None
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


def _groups(
    sections: Mapping[str, NodeGroupSection], zone: str, catalogue: Catalogue, orchestrator: str
) -> Iterator[NodeGroup]:
    for name, section in sections.items():
        try:
            yield from node_groups(name, section, zone=zone, catalogue=catalogue, orchestrator=orchestrator)
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
