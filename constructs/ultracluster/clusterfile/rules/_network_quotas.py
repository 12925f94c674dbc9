"""Warnings about quotas and prefixes of networks."""

from collections.abc import Iterator
from math import exp

from ultracluster.catalogue.ec2 import (
    MOST_NETWORK_ADDRESS_USAGE,
    NETWORK_ADDRESS_USAGE,
    NETWORK_INTERFACES_PER_REGION,
    addresses,
)
from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.rules._rule import Rule, warning
from ultracluster.planning.network import subnet_capacity

_INTERFACE_QUOTA = warning(
    "interface-quota", "The nodes have more network interfaces than the default quota of a Region."
)
_ADDRESS_USAGE = warning(
    "network-address-usage", "EC2 refuses nodes above the quota of a VPC, which counts addresses and interfaces."
)
_PREFIXES = warning(
    "network-prefixes", "Pods take whole blocks of 16 addresses, and scattered addresses of nodes break blocks."
)


def warn_prefixes(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warning about a training subnet that may have no free block for the pods of all nodes.

    No page documents where EC2 puts an address in a subnet; here, it is anywhere.

    See: https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html and
    https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html (read 2026-11-27)
    """
    existing, here = cluster.network.existing, [it for it in cluster.node_groups if it.zone == cluster.zone]
    pods = bool(here) and all(it.pods and it.service_addresses is None for it in here)
    if not pods or (existing and not existing.cidr):
        return
    capacity = subnet_capacity(existing.cidr) if existing and existing.cidr else cluster.subnets.capacity
    in_blocks = sum(it.count * eks.pod_addresses(it.pods) for it in here)
    services = cluster.service_count + cluster.traits.control_nodes
    in_blocks += services * eks.pod_addresses(cluster.traits.service_pods)
    blocks, single = capacity // eks.ADDRESSES_PER_PREFIX, cluster.addresses - in_blocks
    broken = blocks * (1 - exp(-single / blocks))
    if in_blocks / eks.ADDRESSES_PER_PREFIX + broken > blocks:
        yield (
            _PREFIXES,
            f"pods need {in_blocks // eks.ADDRESSES_PER_PREFIX:,} of the {blocks:,} blocks of 16 addresses of the "
            f"training subnet, and {single:,} other addresses may break about {broken:,.0f}: without a free block, "
            "pods of the last nodes do not start (InsufficientCidrBlocks); write fewer nodes, lower pods or a larger "
            "subnet, or reserve a part of it for pods before the nodes exist: aws ec2 create-subnet-cidr-reservation "
            "--reservation-type prefix --subnet-id SUBNET --cidr RANGE",
        )


def warn_quotas(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the quotas of a Region and of a VPC that the nodes exceed."""
    interfaces = sum(group.count * len(group.interfaces) for group in cluster.node_groups)
    if interfaces > NETWORK_INTERFACES_PER_REGION:
        yield (
            _INTERFACE_QUOTA,
            f"the nodes have {interfaces:,} network interfaces, and the default quota of an account in a Region is "
            f"{NETWORK_INTERFACES_PER_REGION:,} (L-DF5E4CA3, VPC); request an increase before you deploy",
        )
    units = [_units(group) for group in cluster.node_groups]
    least, most = sum(low for low, _ in units), sum(high for _, high in units)
    if most > NETWORK_ADDRESS_USAGE:
        rest = "; what else is in the VPC, and in its peers, counts too" if cluster.network.existing else ""
        yield (
            _ADDRESS_USAGE,
            f"the nodes use {least:,} to {most:,} units of Network Address Usage, and the default quota of a VPC is "
            f"{NETWORK_ADDRESS_USAGE:,}{rest}; above it, EC2 refuses nodes (NetworkAddressUsageLimitExceeded): request "
            f"an increase, up to {MOST_NETWORK_ADDRESS_USAGE:,}, before you deploy",
        )


def _units(group: NodeGroup) -> tuple[int, int]:
    """Return the lowest and highest units of Network Address Usage of a group.

    An address, a further interface, and a prefix of pods is a unit each. AWS does not document whether an EFA interface
    is a second one: the highest number has both.
    """
    if group.service_addresses is not None:
        return group.addresses, group.addresses
    prefixes = eks.pod_addresses(group.pods) // eks.ADDRESSES_PER_PREFIX if group.pods else 0
    low = addresses(group.interfaces) + prefixes + len(group.interfaces) - 1
    return group.count * low, group.count * (low + sum(row.kind != "interface" for row in group.interfaces))
