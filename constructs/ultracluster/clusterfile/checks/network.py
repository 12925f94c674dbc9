"""Whether the network can be as the file says, and holds the nodes."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from ultracluster.clusterfile.needs import TrainingAddresses, lustre_plan, training_addresses
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.file import Network
from ultracluster.clusterfile.sections.storage import Storage
from ultracluster.hardware import InstanceType, addresses, interfaces
from ultracluster.hardware.zones import is_local_zone
from ultracluster.planning import largest_training_subnet, plan_subnets, plan_zone_subnets, subnet_capacity
from ultracluster.planning.addresses import zone_subnet_problems


def check_network(network: Network | None, zone: str | None) -> Iterator[Problem]:
    """Whether ranges and zones make a network."""
    if network is None:
        return
    services = ("network", "services-zone")
    no_controller = "a Local Zone has neither NAT gateways nor Slurm controllers"
    if network.existing is not None:
        for key in sorted(network.model_fields_set - {"existing"}):
            message = "describes a VPC that is made, and network.existing names one of yours; remove one of the two"
            yield Problem(path=("network", key.replace("_", "-")), at_key=True, message=message)
        if zone and is_local_zone(zone):
            message = (
                f"{zone} is a Local Zone, and {no_controller}: let the cluster make its VPC, with network.services-zone"
            )
            yield Problem(path=("network", "existing"), message=message)
        return
    if network.services_zone and is_local_zone(network.services_zone):
        message = f"must be a zone of the region itself, got the Local Zone {network.services_zone}; {no_controller}"
        yield Problem(path=services, message=message)
    if zone and is_local_zone(zone) and not network.services_zone:
        message = (
            f"{zone} is a Local Zone, and {no_controller}; name a zone of the region for them, such as "
            f"network: {{services-zone: {zone.split('-')[0]}-az1}}"
        )
        yield Problem(path=("zone",), message=message)
    try:
        plan_subnets(network.cidr, 0, network.training_subnet)
    except ValueError as error:
        key = "cidr" if network.training_subnet is None else "training-subnet"
        yield Problem(path=("network", key), message=str(error))


def check_zones_of_groups(
    network: Network | None, zone: str | None, groups: Sequence[NodeGroup], *, further: Sequence[str]
) -> Iterator[Problem]:
    """Whether every zone that nodes are in has a subnet, and every subnet nodes or, in `further` zones, EKS's own."""
    if network is None or zone is None:
        return
    zones = sorted(({group.zone for group in groups} | set(further)) - {zone})
    path: Path = ("network", "subnets")
    named: set[str] = set(network.subnets)
    if network.existing is not None:
        path, named = ("network", "existing", "subnets"), set(network.existing.subnets)
        for group in groups:
            if group.zone not in named | {zone}:
                message = (
                    f"{network.existing.subnet} is in {zone}, and these nodes are in {group.zone}; name the subnet of "
                    f"yours there: network: {{existing: {{subnets: {{{group.zone}: subnet-...}}}}}}"
                )
                yield Problem(path=("nodes", group.section, "zone"), message=message)
        where = {network.existing.subnet: zone}
        for other, subnet in network.existing.subnets.items():
            first = where.setdefault(subnet, other)
            if first != other:
                message = f"{subnet} is in one zone, and the file puts it into {first} and {other}; correct one"
                yield Problem(path=(*path, other), message=message)
    if zone in named:
        message = f"{zone} is the cluster's own zone, whose subnet is network.training-subnet; remove it"
        yield Problem(path=(*path, zone), message=message, at_key=True)
    for other in sorted(named - {zone} - set(zones)):
        message = f"no node group is in {other}; remove it, or write zone: {other} where it is meant"
        yield Problem(path=(*path, other), message=message, at_key=True)
    if network.existing is None:
        yield from _check_zone_subnets(network, zones, groups)


def _check_zone_subnets(network: Network, zones: Sequence[str], groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    try:
        plan = plan_subnets(network.cidr, 0, network.training_subnet)
    except ValueError:
        return
    taken = (plan.training, plan.public, plan.services)
    for zone, message in zone_subnet_problems(network.cidr, zones, network.subnets, taken).items():
        first = next((group.section for group in groups if group.zone == zone), None)
        path: Path = ("nodes", first, "zone") if first else ("network", "cidr")
        if zone in network.subnets:
            path = ("network", "subnets", zone)
        yield Problem(path=path, message=message)


def zone_subnets(network: Network, zones: Sequence[str]) -> dict[str, IPv4Network]:
    """Ranges of the subnets in other zones; none when the VPC's own subnets can't be.

    Raises:
        ValueError: When a zone can't have one.
    """
    try:
        plan = plan_subnets(network.cidr, 0, network.training_subnet)
    except ValueError:
        return {}
    return plan_zone_subnets(network.cidr, zones, network.subnets, (plan.training, plan.public, plan.services))


def check_addresses(
    network: Network | None,
    *,
    groups: Sequence[NodeGroup],
    service: int | None,
    service_type: InstanceType | None,
    storage: Storage | None,
    zone: str | None,
    further: Sequence[str],
) -> Iterator[Problem]:
    """Whether each subnet holds the nodes, and the training subnet the file system too."""
    possible = [group for group in groups if _addresses(group) is not None]
    yield from _check_other_zones(network, possible, zone, further)
    here = [group for group in possible if group.zone == zone]
    capacity = _capacity(network)
    if capacity is None or not possible or service is None or service_type is None:
        return
    spec = None
    if storage and storage.lustre and zone:
        try:
            plan = lustre_plan(storage.lustre, zone=zone)
            spec = plan.spec if plan else None
        except ValueError:
            spec = None
    # Only nodes of Kubernetes run pods.
    kubernetes = any(group.pods for group in possible)
    needed = training_addresses(here, service=service, service_type=service_type, lustre=spec, kubernetes=kubernetes)
    if needed.total <= capacity:
        return
    if needed.lustre > needed.nodes:
        message = (
            f"its servers, with room to grow, take {needed.lustre:,} addresses, and the training subnet has "
            f"{capacity:,}; ask for less, or take a larger range"
        )
        yield Problem(path=("storage", "lustre"), message=message)
    elif here:
        largest = max(here, key=lambda group: group.addresses)
        yield Problem(path=("nodes", largest.section, "count"), message=_too_many(largest, needed, capacity))


def _check_other_zones(
    network: Network | None, groups: Sequence[NodeGroup], zone: str | None, further: Sequence[str]
) -> Iterator[Problem]:
    if network is None or network.existing is not None or zone is None:
        return
    zones = sorted(({group.zone for group in groups} | set(further)) - {zone})
    try:
        subnets = zone_subnets(network, zones)
    except ValueError:
        return
    for other, subnet in subnets.items():
        there = [group for group in groups if group.zone == other]
        if not there:
            continue
        needed, capacity = sum(group.addresses for group in there), subnet_capacity(subnet)
        if needed > capacity:
            largest = max(there, key=lambda group: group.addresses)
            message = (
                f"the nodes in {other} take {needed:,} addresses, and their subnet {subnet} has {capacity:,}; give it "
                f"a larger range: network: {{subnets: {{{other}: RANGE}}}}"
            )
            yield Problem(path=("nodes", largest.section, "count"), message=message)


def _capacity(network: Network | None) -> int | None:
    if network is None:
        return None
    if network.existing is not None:
        return subnet_capacity(network.existing.cidr) if network.existing.cidr else None
    try:
        return subnet_capacity(network.training_subnet or largest_training_subnet(network.cidr))
    except ValueError:
        return None


def _addresses(group: NodeGroup) -> int | None:
    try:
        return group.addresses_per_node
    except ValueError:
        return None


def _too_many(group: NodeGroup, needed: TrainingAddresses, capacity: int) -> str:
    others = needed.total - group.addresses
    each = group.addresses_per_node
    fit = max(0, (capacity - others) // each)
    way_out = [f"at most {fit:,} such nodes fit"]
    try:
        with_one = addresses(interfaces(group.instance_type))
    except ValueError:
        with_one = each
    if group.pods and fit:
        way_out.append(f"pods: lower than {group.pods} takes fewer")
    if with_one < addresses(group.interfaces) and fit:
        way_out.append(f"layout: one-ip takes {with_one} address{'es' if with_one > 1 else ''} a node")
    way_out.append("or take a larger range")
    return (
        f"{group.count:,} nodes of {each} addresses take {group.addresses:,}, and everything else {others:,}, but the "
        f"training subnet has {capacity:,}; {', '.join(way_out)}"
    )
