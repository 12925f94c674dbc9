"""Warnings about the network."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.hardware.quotas import NETWORK_INTERFACES_PER_REGION

# Docker's default, and that of AWS services built on it. See
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (read 2026-11-21).
_DOCKER = IPv4Network("172.17.0.0/16")


def network_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
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
