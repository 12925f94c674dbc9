"""What is allowed in a cluster file and yet deserves a word."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.hardware.quotas import (
    LUSTRE_CAPACITY_GIB,
    LUSTRE_EFA_CONNECTIONS,
    NETWORK_INTERFACES_PER_REGION,
    PCS_NODE_GROUPS_PER_CLUSTER,
)
from ultracluster.hardware.zones import REGIONS
from ultracluster.planning import Spot, TargetedReservation

# Docker's default, and that of AWS services built on it. See
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (read 2026-11-21).
_DOCKER = IPv4Network("172.17.0.0/16")


@dataclass(frozen=True, kw_only=True, slots=True)
class Warning:
    """Something to know before deploying.

    Args:
        id: `ultracluster:kebab-words`; never changes.
        message: What it is, and what to do.
    """

    id: str
    message: str


def warnings(cluster: ClusterFile) -> list[Warning]:
    """Everything about a cluster that is allowed and yet deserves a word."""
    return [Warning(id=f"ultracluster:{id}", message=message) for id, message in _warnings(cluster)]


def _warnings(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    if cluster.region not in REGIONS.values():
        yield (
            "unknown-region",
            f"{cluster.region} is no region that this release knows, so its zones are not checked; mind its spelling",
        )
    unpinned = [group.name for group in cluster.node_groups if group.image is None]
    unpinned += [] if cluster.slurm.login.image else ["login"]
    if unpinned:
        yield (
            "unpinned-image",
            f"{_list(unpinned)}: each deployment takes AWS's newest image, and replaces nodes when it has moved; pin "
            "one for production: image: ami-...",
        )
    unknown = [
        group.name
        for group in cluster.node_groups
        if isinstance(group.capacity, TargetedReservation) and group.capacity.instances is None
    ]
    if unknown:
        yield (
            "reservation-size",
            f"{_list(unknown)}: the reservation is taken for an ODCR that holds enough instances; say what it is: "
            "{reservation: cr-..., kind: odcr | capacity-block | ultraserver, instances: N}",
        )
    spot = [group.name for group in cluster.node_groups if isinstance(group.capacity, Spot)]
    if spot:
        yield (
            "spot-role",
            f"{_list(spot)}: Spot needs a service-linked role, which an account has once it has used Spot; if yours "
            "hasn't: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com",
        )
    groups = len(cluster.node_groups) + 1
    if groups > PCS_NODE_GROUPS_PER_CLUSTER:
        yield (
            "node-group-quota",
            f"the cluster has {groups} node groups, the login nodes' included, and PCS gives a cluster "
            f"{PCS_NODE_GROUPS_PER_CLUSTER} by default; have it raised by a support case before you deploy",
        )
    interfaces = sum(group.count * len(group.interfaces) for group in cluster.node_groups)
    if interfaces > NETWORK_INTERFACES_PER_REGION:
        yield (
            "interface-quota",
            f"the nodes have {interfaces:,} network interfaces, and a region gives an account "
            f"{NETWORK_INTERFACES_PER_REGION:,} by default; have the VPC quota L-DF5E4CA3 raised before you deploy",
        )
    existing = cluster.network.existing
    network = existing.cidr if existing else cluster.network.cidr
    if network is not None and network.overlaps(_DOCKER):
        yield (
            "docker-range",
            f"{network} overlaps {_DOCKER}, where Docker on a node puts its containers: the node then can't reach what "
            "has an address there; take another range",
        )
    if existing is not None and existing.cidr is None:
        yield (
            "subnet-size",
            f"the cluster takes {cluster.addresses:,} addresses of {existing.subnet}, whose size is not known here; "
            "give its range, network.existing.cidr, to have it checked",
        )
    yield from _lustre_warnings(cluster)


def _lustre_warnings(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    size = cluster.lustre_size
    if size is None:
        return
    if size.capacity_gib > LUSTRE_CAPACITY_GIB:
        yield (
            "lustre-quota",
            f"the file system has {size.capacity_gib:,} GiB, and a region gives an account {LUSTRE_CAPACITY_GIB:,} by "
            "default; have the FSx quota for Lustre PERSISTENT_2 storage raised before you deploy",
        )
    connections = sum(group.lustre_efa_connections for group in cluster.node_groups)
    clients = sum(group.count for group in cluster.node_groups if group.lustre_efa_connections)
    if size.efa and connections > LUSTRE_EFA_CONNECTIONS:
        each = LUSTRE_EFA_CONNECTIONS // clients
        yield (
            "lustre-efa-connections",
            f"over EFA, {clients:,} nodes would open {connections:,} connections to the file system, which takes "
            f"{LUSTRE_EFA_CONNECTIONS:,}; let a node use {each} EFA interface{'s' if each > 1 else ''} for it",
        )


def _list(names: list[str]) -> str:
    return ", ".join(names)
