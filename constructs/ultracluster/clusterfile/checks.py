"""What the parts of a cluster file must be to each other.

A check sees only what could be read: everything that is wrong with a file is told at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ultracluster.clusterfile import node_readers, readers
from ultracluster.clusterfile.catalogue import Catalogue
from ultracluster.clusterfile.check_counts import check_counts
from ultracluster.clusterfile.check_groups import check_group, check_images, check_shared_reservations
from ultracluster.clusterfile.check_network import check_addresses, check_network, check_zones_of_groups
from ultracluster.clusterfile.check_storage import check_efa_connections, check_lustre
from ultracluster.clusterfile.declared import DeclaredType
from ultracluster.clusterfile.node_group import NodeGroup, node_groups
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections import Network, NodeGroupSection, Notifications, Slurm, Storage
from ultracluster.hardware import InstanceType, pcs
from ultracluster.hardware.zones import REGIONS, region_of_zone
from ultracluster.planning import CapacityBlock, ReservationGroup, UltraServerBlock

_S = TypeVar("_S", bound=BaseModel)

# Of the 500 that CloudFormation takes, so that there is room for what a later release adds.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-21)
_MOST_RESOURCES_OF_A_STACK = 400
# Template, node group and queue of a group; two schedules, role and policy of a drain; template and node group of the
# login nodes, and the CDK's own metadata. The key, topic, policy, subscription and rule of notices fit into the rest.
_RESOURCES_OF_A_GROUP, _RESOURCES_OF_A_DRAIN, _RESOURCES_BESIDE = 3, 4, 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The parts of a file that could be read. None: it could not be, or is not there."""

    region: str | None
    zone: str | None
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


def check(draft: Draft) -> Iterator[Problem]:
    """Everything that does not fit together."""
    yield from _check_zones(draft)
    yield from _check_arns(draft)
    yield from _check_types(draft)
    for group in draft.groups:
        yield from check_group(group)
    yield from _check_names(draft)
    yield from check_shared_reservations(draft.groups)
    yield from check_images(draft.groups, draft.slurm.login if draft.slurm else None, draft.login_type)
    yield from check_network(draft.network, draft.zone)
    yield from check_zones_of_groups(draft.network, draft.zone, draft.groups)
    yield from check_lustre(draft.storage, zone=draft.zone)
    # Of limits on the number of nodes the first one passed is told: the others follow from it.
    limits = chain(
        _check_nodes(draft),
        check_addresses(
            draft.network,
            groups=draft.groups,
            slurm=draft.slurm,
            login_type=draft.login_type,
            storage=draft.storage,
            zone=draft.zone,
        ),
        check_efa_connections(draft.storage, zone=draft.zone, groups=draft.groups),
    )
    yield from islice(limits, 1)


def _check_zones(draft: Draft) -> Iterator[Problem]:
    if draft.region is None:
        return
    zones: dict[Path, str | None] = {
        ("zone",): draft.zone,
        ("network", "services-zone"): draft.network.services_zone if draft.network else None,
        **{("nodes", name, "zone"): section.zone for name, section in draft.sections.items()},
    }
    prefix = next((prefix for prefix, region in REGIONS.items() if region == draft.region), None)
    for path, zone in zones.items():
        inside = region_of_zone(zone) if zone else None
        if zone is None or inside == draft.region or (inside is None and prefix is None):
            continue
        if prefix is None:
            message = (
                f"{draft.region} is no region that is known, and the zone {zone} is in {inside}; did you mean {inside}?"
            )
            yield Problem(path=("region",), message=message)
            continue
        where = f"is in {inside}" if inside else "is in no region that is known"
        message = f"{zone} {where}, and the region is {draft.region}; the ids of its zones begin with {prefix}-"
        yield Problem(path=path, message=message)


def _check_arns(draft: Draft) -> Iterator[Problem]:
    arns: dict[Path, str | None] = {
        ("encryption-key",): draft.encryption_key,
        ("notifications", "topic"): draft.notifications.topic if draft.notifications else None,
    }
    for name, section in draft.sections.items():
        if isinstance(section.capacity, ReservationGroup):
            arns["nodes", name, "capacity", "group"] = section.capacity.arn
    for path, arn in arns.items():
        region = arn.split(":")[3] if arn else None
        if draft.region and region and region != draft.region:
            yield Problem(path=path, message=f"is in {region}, and must be in the cluster's region, {draft.region}")


def _check_types(draft: Draft) -> Iterator[Problem]:
    for name, declared in draft.types.items():
        if missing := declared.missing():
            message = f"needs {', '.join(missing)} as well, or like: a type of the catalogue that it is like"
            yield Problem(path=("types", name), message=message)
            continue
        try:
            declared.record(name)
        except ValueError as error:
            yield Problem(path=("types", name, "like"), message=str(error))
    uses: dict[Path, str] = {("nodes", name, "type"): type for name, type in draft.named.items()}
    if draft.slurm is not None:
        uses["slurm", "login", "type"] = draft.slurm.login.type
    for path, type in uses.items():
        try:
            record, server = draft.catalogue.look_up(type)
        except ValueError as error:
            # A type whose declaration is wrong is told there.
            if type not in draft.types:
                yield Problem(path=path, message=str(error))
            continue
        if path[0] == "slurm" and server is not None:
            yield Problem(path=path, message=f"{type} is an UltraServer; nodes to log in to need no GPU")
        section = draft.sections.get(str(path[1]))
        if path[0] == "nodes" and section is not None:
            yield from check_counts(str(path[1]), section, record, server)


def _check_names(draft: Draft) -> Iterator[Problem]:
    """A section that lists several Capacity Blocks makes names, which must be nobody else's."""
    seen: dict[str, str] = {}
    for group in draft.groups:
        other = seen.setdefault(group.name, group.section)
        if other != group.section:
            message = f"has a node group called {group.name}, and so has {other}; rename one of the two"
            yield Problem(path=("nodes", group.section), at_key=True, message=message)


def _check_nodes(draft: Draft) -> Iterator[Problem]:
    if not draft.groups or draft.slurm is None:
        return
    largest = max(draft.groups, key=lambda group: group.count)
    nodes = sum(group.count for group in draft.groups) + draft.slurm.login.count
    size = draft.slurm.size
    resources = _RESOURCES_BESIDE + sum(_resources(group) for group in draft.groups)
    if resources > _MOST_RESOURCES_OF_A_STACK:
        message = (
            f"holds {len(draft.groups)} groups, which make {resources} resources, and a stack is to hold at most "
            f"{_MOST_RESOURCES_OF_A_STACK}; split them into two clusters"
        )
        yield Problem(path=("nodes",), message=message)
    for message in pcs.check_nodes(nodes, size):
        path: Path = ("nodes", largest.section, "count")
        if size and not pcs.check_nodes(nodes):
            path = ("slurm", "size")
        elif draft.slurm.login.count > largest.count:
            path = ("slurm", "login", "count")
        yield Problem(path=path, message=message)


def _resources(group: NodeGroup) -> int:
    ends = isinstance(group.capacity, CapacityBlock | UltraServerBlock) and group.capacity.ends is not None
    try:
        placed = isinstance(group.placed, str)
    except ValueError:
        placed = False
    return _RESOURCES_OF_A_GROUP + placed + (_RESOURCES_OF_A_DRAIN if ends else 0)


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
