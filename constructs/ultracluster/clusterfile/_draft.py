"""The parts of a cluster file that are valid: rules check them even if others are not."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.clusterfile._catalogue import Catalogue
from ultracluster.clusterfile._node_group import KUBERNETES, NodeGroup, node_groups
from ultracluster.clusterfile.sections import _common as common
from ultracluster.clusterfile.sections._accept import accepted
from ultracluster.clusterfile.sections._declared import DeclaredType
from ultracluster.clusterfile.sections._kubernetes import Kubernetes, SystemNodes
from ultracluster.clusterfile.sections._network import Network
from ultracluster.clusterfile.sections._nodes import NodeGroupSection, instance_type_name
from ultracluster.clusterfile.sections._observability import Notifications, Observability
from ultracluster.clusterfile.sections._slurm import Login, Slurm
from ultracluster.clusterfile.sections._storage import Storage

_S = TypeVar("_S", bound=BaseModel)
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The valid parts of a file. None: not valid, or not in the file."""

    region: str | None
    zone: str | None
    #: Names of the types that the file declares, valid or not.
    declared: frozenset[str]
    types: Mapping[str, DeclaredType]
    catalogue: Catalogue
    #: The type that each section of nodes names.
    named: Mapping[str, str]
    sections: Mapping[str, NodeGroupSection]
    groups: tuple[NodeGroup, ...]
    orchestrator: str | None
    #: The keys at the top of the file, valid or not.
    top_keys: frozenset[str]
    slurm: Slurm | None
    kubernetes: Kubernetes | None
    network: Network | None
    storage: Storage | None
    notifications: Notifications | None
    observability: Observability | None
    encryption_key: str | None
    #: Rules that the file accepts, with the reason of each.
    accept: Mapping[str, str]

    @staticmethod
    def of(data: Mapping[str, Any], valid: Mapping[int, BaseModel]) -> "Draft":
        """Collect what is valid.

        Args:
            data: The file.
            valid: The valid sections, by the identity of the mapping in `data`.
        """

        def section(model: type[_S], key: str) -> _S | None:
            return _section(model, data[key], valid) if key in data else model()

        types = _sections(DeclaredType, data.get("types"), valid)
        catalogue = Catalogue(declared=dict(_declared(types)))
        sections = _sections(NodeGroupSection, data.get("nodes"), valid)
        zone = _value(common.zone_id, data.get("zone"))
        orchestrator = _value(common.orchestrator, data.get("orchestrator"))
        return Draft(
            region=_value(common.region, data.get("region")),
            zone=zone,
            declared=frozenset(map(str, data["types"])) if isinstance(data.get("types"), dict) else frozenset(),
            types=types,
            catalogue=catalogue,
            named=_named(data.get("nodes")),
            sections=sections,
            groups=tuple(_groups(sections, zone or "", catalogue, orchestrator or "")),
            orchestrator=orchestrator,
            top_keys=frozenset(map(str, data)),
            slurm=section(Slurm, "slurm"),
            kubernetes=section(Kubernetes, "kubernetes"),
            network=section(Network, "network"),
            storage=section(Storage, "storage"),
            notifications=section(Notifications, "notifications"),
            observability=section(Observability, "observability"),
            encryption_key=_value(common.key_arn, data.get("encryption-key")),
            accept=_value(accepted, data.get("accept")) or {},
        )

    @property
    def service_nodes(self) -> Login | SystemNodes | None:
        """The nodes beside the node groups: login nodes under Slurm, system nodes under Kubernetes."""
        if self.orchestrator == KUBERNETES:
            return self.kubernetes.system if self.kubernetes else None
        return self.slurm.login if self.slurm else None

    @property
    def service_count(self) -> int:
        """Number of nodes beside the node groups. 0: not valid, or an existing Kubernetes cluster has its own."""
        nodes = self.service_nodes
        own = self.orchestrator == KUBERNETES and self.kubernetes is not None and self.kubernetes.existing is not None
        return 0 if nodes is None or own else nodes.count

    @property
    def instances(self) -> int:
        """Instances of the cluster, those beside the node groups included."""
        return sum(group.count for group in self.groups) + self.service_count

    @property
    def service_path(self) -> tuple[str, str]:
        """Path of the nodes beside the node groups."""
        return (KUBERNETES, "system") if self.orchestrator == KUBERNETES else ("slurm", "login")

    @property
    def service_type(self) -> InstanceType | None:
        """Type of the nodes beside the node groups, or None if it is not known."""
        nodes = self.service_nodes
        try:
            return self.catalogue.look_up(nodes.type)[0] if nodes else None
        except ValueError:
            return None


def _named(nodes: object) -> dict[str, str]:
    items = nodes.items() if isinstance(nodes, dict) else ()
    raw = {name: item.get("type") if isinstance(item, dict) else getattr(item, "type", None) for name, item in items}
    return {name: type for name, item in raw.items() if (type := _value(instance_type_name, item)) is not None}


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


def _value(read: Callable[[object], _T], value: object) -> _T | None:
    try:
        return read(value)
    except ValueError:
        return None


def _section(model: type[_S], value: object, valid: Mapping[int, BaseModel]) -> _S | None:
    section = valid.get(id(value))
    return section if isinstance(section, model) else None


def _sections(model: type[_S], value: object, valid: Mapping[int, BaseModel]) -> dict[str, _S]:
    """Return the valid sections of a mapping, by name."""
    items = value.items() if isinstance(value, dict) else ()
    return {name: section for name, raw in items if (section := _section(model, raw, valid)) is not None}
