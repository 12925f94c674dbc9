"""Rules of the network."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network

from ultracluster.catalogue.ec2 import addresses, interfaces, is_local_zone
from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._needs import TrainingAddresses, training_addresses
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._network_quotas import warn_prefixes, warn_quotas
from ultracluster.clusterfile.rules._rule import Rule, error, listed, shared, warning
from ultracluster.clusterfile.sections._network import Network
from ultracluster.clusterfile.sections._section import Invalid
from ultracluster.planning.network import (
    PRIVATE_RANGES,
    is_private,
    largest_training_subnet,
    plan_subnets,
    plan_zone_subnets,
    subnet_capacity,
)

_DOCKER_RANGE = warning("docker-range", "The network overlaps 172.17.0.0/16, the range of Docker.")
#: Of the network, and of clients of the homes.
PUBLIC_RANGE = warning("public-range", "A range of nodes or of NFS clients has addresses that are not private.")
_SUBNET_SIZE = warning("subnet-size", "The range of the existing subnet is not known.")
_EXISTING = error("network-existing", "An existing network keeps its own ranges and subnets.")
_LOCAL_ZONE = shared("local-zone")
_RANGE = shared("network-range")
_SUBNETS = shared("network-subnets")
_ADDRESSES = error(
    "network-addresses", "A subnet must have an address for every interface; its range cannot change later."
)


def check_network(draft: Draft) -> Iterator[Problem]:
    """Check the zones of the network, and its ranges."""
    network = draft.network
    no_controller = "a Local Zone has neither NAT gateways nor Slurm controllers"
    if network.existing is not None:
        given = network.model_fields_set - {"existing", "internet"}
        yield from _EXISTING.of_new(("network",), given, "VPC", "network.existing")
        if is_local_zone(draft.zone):
            message = f"{draft.zone} is a Local Zone, and {no_controller}: let the cluster make its VPC"
            message += ", with network.control-plane-zone"
            yield _LOCAL_ZONE(("network", "existing"), message)
        return
    if network.control_plane_zone and is_local_zone(network.control_plane_zone):
        message = (
            f"must be a zone of the Region itself, got the Local Zone {network.control_plane_zone}; {no_controller}"
        )
        yield _LOCAL_ZONE(("network", "control-plane-zone"), message)
    try:
        plan_subnets(network.cidr, 0, network.training_subnet)
    except ValueError as error:
        key = "cidr" if network.training_subnet is None else "training-subnet"
        yield _RANGE(("network", key), str(error))
    if is_local_zone(draft.zone) and not network.control_plane_zone:
        message = (
            f"{draft.zone} is a Local Zone, and {no_controller}; name a zone of the Region for them, such as "
            f"network: {{control-plane-zone: {draft.zone.split('-')[0]}-az1}}"
        )
        yield _LOCAL_ZONE(("zone",), message)


def check_zones(draft: Draft) -> Iterator[Problem]:
    """Check that each zone with nodes, or with the control plane of EKS, has one subnet, and each subnet nodes."""
    network, zone, groups = draft.network, draft.zone, draft.node_groups
    path: Path = ("network", "subnets")
    named: set[str] = set(network.subnets)
    if network.existing is not None:
        path, named = ("network", "existing", "subnets"), set(network.existing.subnets)
        for group in groups:
            if group.zone not in named | {zone}:
                message = (
                    f"{network.existing.subnet} is in {zone}, and these nodes are in {group.zone}; name the existing "
                    f"subnet there: network: {{existing: {{subnets: {{{group.zone}: subnet-...}}}}}}"
                )
                yield _SUBNETS(("nodes", group.section, "zone"), message)
        where = {network.existing.subnet: zone}
        for other, subnet in network.existing.subnets.items():
            first = where.setdefault(subnet, other)
            if first != other:
                message = f"{subnet} is in one zone, and the file puts it into {first} and {other}; correct one"
                yield _SUBNETS((*path, other), message)
    if zone in named:
        message = f"{zone} is the cluster's own zone, whose subnet is network.training-subnet; remove it"
        yield _SUBNETS((*path, zone), message, at_key=True)
    for other in sorted(named - {zone} - set(draft.other_zones)):
        message = f"no node group is in {other}; remove it, or write zone: {other} where it is meant"
        yield _SUBNETS((*path, other), message, at_key=True)
    if network.existing is None:
        yield from _check_zone_subnets(draft)


def _check_zone_subnets(draft: Draft) -> Iterator[Problem]:
    network = draft.network
    _, errors = plan_zone_subnets(network.cidr, draft.other_zones, network.subnets, own_subnets(network))
    for zone, message in errors.items():
        first = next((group.section for group in draft.node_groups if group.zone == zone), None)
        path: Path = ("nodes", first, "zone") if first else ("network", "cidr")
        if zone in network.subnets:
            path = ("network", "subnets", zone)
        yield _RANGE(path, message)


def own_subnets(network: Network) -> tuple[IPv4Network, ...]:
    """Return the ranges of the subnets in the zones of cluster and control plane; raise Invalid without a plan."""
    try:
        plan = plan_subnets(network.cidr, 0, network.training_subnet)
    except ValueError:
        raise Invalid from None
    return plan.training, plan.public, plan.services


def check_addresses(draft: Draft) -> Iterator[Problem]:
    """Check that each subnet holds its nodes, and the training subnet the file system too."""
    network, groups = draft.network, [group for group in draft.node_groups if _has_layout(group)]
    if network.existing is None:
        yield from until_invalid(_check_other_zones(draft, groups))
    capacity = _capacity(network)
    if capacity is None or not groups:
        return
    here = [group for group in groups if group.zone == draft.zone]
    needed = training_addresses(
        here,
        service=draft.service_count + draft.traits.control_nodes,
        service_type=draft.service_type,
        lustre=valid(lambda: draft.lustre_spec),
        pods=draft.traits.service_pods,
    )
    if needed.total <= capacity:
        return
    if needed.lustre > needed.nodes:
        message = (
            f"its servers, with room to grow, need {needed.lustre:,} addresses, and the training subnet has "
            f"{capacity:,}; request less"
        )
        if needed.total <= subnet_capacity(_LARGEST_VPC):
            message += f", or use {_larger(network)}"
        yield _ADDRESSES(("storage", "lustre"), message)
    elif here:
        largest = max(here, key=lambda group: group.addresses)
        if needed.total - largest.addresses >= capacity and len(here) > 1:
            yield _ADDRESSES(("nodes",), _too_many_groups(here, needed, capacity, network))
        else:
            yield _ADDRESSES(("nodes", largest.section, "count"), _too_many(largest, needed, capacity, network))


def _check_other_zones(draft: Draft, groups: Sequence[NodeGroup]) -> Iterator[Problem]:
    network = draft.network
    subnets, errors = plan_zone_subnets(network.cidr, draft.other_zones, network.subnets, own_subnets(network))
    for other, subnet in ({} if errors else subnets).items():
        there = [group for group in groups if group.zone == other]
        needed, capacity = sum(group.addresses for group in there), subnet_capacity(subnet)
        if needed > capacity:
            largest = max(there, key=lambda group: group.addresses)
            message = (
                f"the nodes in {other} need {needed:,} addresses, and their subnet {subnet} has {capacity:,}; give it "
                f"a larger range: network: {{subnets: {{{other}: RANGE}}}}"
            )
            yield _ADDRESSES(("nodes", largest.section, "count"), message)


def _capacity(network: Network) -> int | None:
    """Return the addresses of the largest possible training subnet, or None if its range is not known."""
    if network.existing is not None:
        return subnet_capacity(network.existing.cidr) if network.existing.cidr else None
    try:
        return subnet_capacity(network.training_subnet or largest_training_subnet(network.cidr))
    except ValueError:
        return None


def _has_layout(group: NodeGroup) -> bool:
    try:
        return bool(group.interfaces)
    except ValueError:
        return False


def _larger(network: Network) -> str:
    """Return the larger range that a cluster could have, in words: a new VPC, and a subnet, is a /16 at most."""
    created, most = (subnet_capacity(range) for range in (largest_training_subnet(_LARGEST_VPC), _LARGEST_VPC))
    existing = f"an existing subnet of a /{_LARGEST_VPC.prefixlen}, which has {most:,}"
    if network.existing is not None:
        largest = network.existing.cidr is not None and network.existing.cidr.prefixlen == _LARGEST_VPC.prefixlen
        return "a second cluster, for no subnet is larger" if largest else f"a larger range: {existing}"
    if (_capacity(network) or 0) < created:
        return f"a larger range, of which a VPC of {_LARGEST_VPC} has {created:,} addresses"
    return f"{existing} (network.existing), or a second cluster: the VPC is the largest"


def _too_many_groups(groups: Sequence[NodeGroup], needed: TrainingAddresses, capacity: int, network: Network) -> str:
    """Describe node groups of which no single one could make room for the others."""
    taken, nodes = sum(group.addresses for group in groups), sum(group.count for group in groups)
    pods = max(group.pods or 0 for group in groups)
    remedies = ["write fewer nodes", "a zone with a subnet of its own for some groups"]
    remedies += [f"pods: lower than {pods}"] if pods > eks.ADDRESSES_PER_PREFIX else []
    return (
        f"{nodes:,} nodes of {len(groups):,} groups need {taken:,} addresses, and everything else "
        f"{needed.total - taken:,}, but the training subnet has {capacity:,}; {', '.join(remedies)}, or "
        f"{_larger(network)}"
    )


def _too_many(group: NodeGroup, needed: TrainingAddresses, capacity: int, network: Network) -> str:
    others = needed.total - group.addresses
    each = group.addresses_per_node
    fit = max(0, (capacity - others) // each)
    remedies = [f"at most {fit:,} such nodes fit"]
    try:
        with_one = addresses(interfaces(group.instance_type))
    except ValueError:
        with_one = each
    if group.pods > eks.ADDRESSES_PER_PREFIX and fit:
        # Whole prefixes: as many as all nodes have room for, or one.
        room, others_of_node = (capacity - others) // group.count, each - eks.pod_addresses(group.pods)
        prefixes = max(1, (room - others_of_node) // eks.ADDRESSES_PER_PREFIX - 1)
        pods = prefixes * eks.ADDRESSES_PER_PREFIX
        lower = max(0, (capacity - others) // (others_of_node + eks.pod_addresses(pods)))
        remedies.append(f"pods: {pods} lets {lower:,} fit")
    # Where the service creates the interfaces, no layout can be chosen.
    if group.service_addresses is None and with_one < addresses(group.interfaces) and fit:
        remedies.append(f"layout: one-ip uses {with_one} address{'es' if with_one > 1 else ''} a node")
    remedies.append(f"or use {_larger(network)}")
    return (
        f"{group.count:,} nodes of {each} addresses need {group.addresses:,}, and everything else {others:,}, but the "
        f"training subnet has {capacity:,}; {', '.join(remedies)}"
    )


# Docker's default, and that of AWS services built on it. See
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (read 2026-11-21).
_DOCKER = IPv4Network("172.17.0.0/16")
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (read 2026-11-24): /16 to /28.
_LARGEST_VPC = IPv4Network("10.0.0.0/16")


def warn_network(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    yield from warn_quotas(cluster)
    yield from warn_prefixes(cluster)
    existing = cluster.network.existing
    network = existing.cidr if existing else cluster.network.cidr
    if network is not None and network.overlaps(_DOCKER):
        yield (
            _DOCKER_RANGE,
            f"{network} overlaps {_DOCKER}, where Docker on a node puts its containers: the node then can't reach what "
            "has an address there; use another range",
        )
    if existing is None and not is_private(cluster.network.cidr):
        yield (
            PUBLIC_RANGE,
            f"network.cidr {cluster.network.cidr} is not a range of private addresses: nodes cannot reach those "
            "that have these on the internet; use a part of "
            f"{listed(map(str, PRIVATE_RANGES))}",
        )
    if existing is not None and existing.cidr is None:
        yield (
            _SUBNET_SIZE,
            f"the cluster needs {cluster.addresses:,} addresses of {existing.subnet}, whose size is not known here; "
            "give its range, network.existing.cidr, to have it checked",
        )
