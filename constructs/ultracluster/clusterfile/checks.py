"""What the parts of a cluster file must be to each other.

A check sees only what could be read: everything that is wrong with a file is told at once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ultracluster.clusterfile import readers
from ultracluster.clusterfile.check_groups import check_group, check_shared_reservations
from ultracluster.clusterfile.check_network import check_addresses, check_network
from ultracluster.clusterfile.check_storage import check_efa_connections, check_lustre
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections import Network, NodeGroupSection, Slurm, Storage
from ultracluster.hardware import pcs
from ultracluster.hardware.zones import REGIONS, region_of_zone
from ultracluster.planning import ReservationGroup

_S = TypeVar("_S", bound=BaseModel)

# Of the 500 that CloudFormation takes, so that there is room for what a later release adds.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-21)
_MOST_RESOURCES_OF_A_STACK = 400
# Template, node group and queue of a group; template and node group of the login nodes, and the CDK's own metadata.
_RESOURCES_OF_A_GROUP, _RESOURCES_BESIDE = 3, 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The parts of a file that could be read. None: it could not be, or is not there."""

    region: str | None
    zone: str | None
    groups: tuple[NodeGroup, ...]
    slurm: Slurm | None
    network: Network | None
    storage: Storage | None
    encryption_key: str | None

    @staticmethod
    def of(data: Mapping[str, Any]) -> "Draft":
        """Read what can be read."""
        nodes = data.get("nodes")
        sections = {
            name: _section(NodeGroupSection, section)
            for name, section in (nodes.items() if isinstance(nodes, dict) else ())
        }
        return Draft(
            region=_value(readers.region, data.get("region")),
            zone=_value(readers.zone_id, data.get("zone")),
            groups=tuple(NodeGroup.of(name, section) for name, section in sections.items() if section),
            slurm=_section(Slurm, data.get("slurm", {})),
            network=_section(Network, data.get("network", {})),
            storage=_section(Storage, data.get("storage", {})),
            encryption_key=_value(readers.key_arn, data.get("encryption-key")),
        )


def check(draft: Draft) -> Iterator[Problem]:
    """Everything that does not fit together."""
    yield from _check_zones(draft)
    yield from _check_arns(draft)
    for group in draft.groups:
        yield from check_group(group)
    yield from check_shared_reservations(draft.groups)
    yield from check_network(draft.network, draft.zone)
    yield from check_lustre(draft.storage, zone=draft.zone)
    # Of limits on the number of nodes the first one passed is told: the others follow from it.
    limits = chain(
        _check_nodes(draft),
        check_addresses(draft.network, groups=draft.groups, slurm=draft.slurm, storage=draft.storage, zone=draft.zone),
        check_efa_connections(draft.storage, zone=draft.zone, groups=draft.groups),
    )
    yield from islice(limits, 1)


def _check_zones(draft: Draft) -> Iterator[Problem]:
    if draft.region is None:
        return
    zones = {("zone",): draft.zone, ("network", "services-zone"): draft.network and draft.network.services_zone}
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
    arns: dict[Path, str | None] = {("encryption-key",): draft.encryption_key}
    for group in draft.groups:
        if isinstance(group.capacity, ReservationGroup):
            arns["nodes", group.name, "capacity", "group"] = group.capacity.arn
    for path, arn in arns.items():
        region = arn.split(":")[3] if arn else None
        if draft.region and region and region != draft.region:
            yield Problem(path=path, message=f"is in {region}, and must be in the cluster's region, {draft.region}")


def _check_nodes(draft: Draft) -> Iterator[Problem]:
    if not draft.groups or draft.slurm is None:
        return
    largest = max(draft.groups, key=lambda group: group.count)
    nodes = sum(group.count for group in draft.groups) + draft.slurm.login.count
    size = draft.slurm.size
    resources = _RESOURCES_BESIDE + sum(_RESOURCES_OF_A_GROUP + group.makes_placement_group for group in draft.groups)
    if resources > _MOST_RESOURCES_OF_A_STACK:
        message = (
            f"holds {len(draft.groups)} groups, which make {resources} resources, and a stack is to hold at most "
            f"{_MOST_RESOURCES_OF_A_STACK}; split them into two clusters"
        )
        yield Problem(path=("nodes",), message=message)
    for message in pcs.check_nodes(nodes, size):
        path: Path = ("nodes", largest.name, "count")
        if size and not pcs.check_nodes(nodes):
            path = ("slurm", "size")
        elif draft.slurm.login.count > largest.count:
            path = ("slurm", "login", "count")
        yield Problem(path=path, message=message)


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
