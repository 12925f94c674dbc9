"""Whether the network can be as the file says, and holds the nodes."""

from collections.abc import Iterator, Sequence

from ultracluster.clusterfile.needs import TrainingAddresses, lustre_size, training_addresses
from ultracluster.clusterfile.node_group import NodeGroup
from ultracluster.clusterfile.problems import Problem
from ultracluster.clusterfile.sections import Network, Slurm, Storage
from ultracluster.hardware import addresses, interfaces
from ultracluster.hardware.zones import is_local_zone
from ultracluster.planning import largest_training_subnet, plan_subnets, subnet_capacity


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


def check_addresses(
    network: Network | None,
    *,
    groups: Sequence[NodeGroup],
    slurm: Slurm | None,
    storage: Storage | None,
    zone: str | None,
) -> Iterator[Problem]:
    """Whether the training subnet holds the nodes and the file system."""
    possible = [group for group in groups if _addresses(group) is not None]
    capacity = _capacity(network)
    if capacity is None or not possible or slurm is None:
        return
    size = None
    if storage and storage.lustre and zone:
        try:
            size = lustre_size(storage.lustre, zone=zone)
        except ValueError:
            size = None
    needed = training_addresses(possible, login=slurm.login, lustre=size)
    if needed.total <= capacity:
        return
    if needed.lustre > needed.nodes:
        message = (
            f"its servers, with room to grow, take {needed.lustre:,} addresses, and the training subnet has "
            f"{capacity:,}; ask for less, or take a larger range"
        )
        yield Problem(path=("storage", "lustre"), message=message)
    else:
        largest = max(possible, key=lambda group: group.addresses)
        yield Problem(path=("nodes", largest.name, "count"), message=_too_many(largest, needed, capacity))


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
    with_one = addresses(interfaces(group.instance_type))
    if with_one < each and fit:
        way_out.append(f"layout: one-ip takes {with_one} address{'es' if with_one > 1 else ''} a node")
    way_out.append("or take a larger range")
    return (
        f"{group.count:,} nodes of {each} addresses take {group.addresses:,}, and everything else {others:,}, but the "
        f"training subnet has {capacity:,}; {', '.join(way_out)}"
    )
