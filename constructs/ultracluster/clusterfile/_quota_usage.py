"""Shares of the quotas of an account that a cluster takes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.planning.capacity import Capacity, OnDemand, Spot

# Root volume of a login node, the default of `NodeGroupTemplate`. That of a system node has 100 GiB.
_SERVICE_GIB = 500


def root_volumes_tib(cluster: ClusterFile) -> int:
    """Return the gp3 storage of the root volumes of all nodes, in TiB, rounded up; 0 if they are in another account."""
    if not cluster.traits.own_instances:
        return 0
    gib = sum(group.count * float(group.root_volume.gib) for group in cluster.node_groups)
    return ceil((gib + cluster.service_count * _SERVICE_GIB) / 1024)


class HyperPodUsage(NamedTuple):
    """Share of the quotas of HyperPod that a cluster takes.

    Args:
        on_demand: Instances on demand, by type.
        spot: Spot instances, by type.
        instances: All instances, those of training plans included.
        volume_gib: Size of the largest volume of a node.
    """

    on_demand: Mapping[str, int]
    spot: Mapping[str, int]
    instances: int
    volume_gib: int


def hyperpod_usage(cluster: ClusterFile) -> HyperPodUsage:
    """Return the share of the quotas of HyperPod that a cluster takes. System nodes of Kubernetes do not count."""
    counts: dict[type[Capacity], Counter[str]] = defaultdict(Counter)
    for group in cluster.node_groups:
        counts[type(group.capacity)][group.instance_type.name] += group.count
    instances = sum(group.count for group in cluster.node_groups)
    if controllers := cluster.traits.control_nodes:
        counts[OnDemand][cluster.service_type.name] += cluster.service_count
        counts[OnDemand][cluster.hyperpod.controller] += controllers
        instances += cluster.service_count + controllers
    volume = max((ceil(group.root_volume.gib) for group in cluster.node_groups), default=0)
    return HyperPodUsage(on_demand=counts[OnDemand], spot=counts[Spot], instances=instances, volume_gib=volume)
