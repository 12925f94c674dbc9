"""End of the capacity of a node group, and the quotas that nodes use."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import NamedTuple

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.planning.capacity import Capacity, OnDemand, Spot, vcpu_needs

# Most of a root volume of a login or system node.
_SERVICE_GIB = 500


class End(NamedTuple):
    """End of a Capacity Block, and its words."""

    at: datetime
    words: str


def end_of(group: NodeGroup) -> End | None:
    """Return when the instances of a group are terminated, or None."""
    at = getattr(group.capacity, "terminates_at", None)
    method = "to be terminated by you before" if group.ultraserver else "terminated from"
    return None if at is None else End(at, f"{method} {at:%Y-%m-%d %H:%M} UTC")


def quotas_of_instances(cluster: ClusterFile) -> str:
    """Describe the vCPUs of all nodes, by quota of EC2."""
    rows = [(group.instance_type, group.capacity, group.count) for group in cluster.node_groups]
    rows.append((cluster.service_type, OnDemand(), cluster.service_count))
    needs = vcpu_needs(rows).items()
    return f"vCPUs: {'; '.join(f'{vcpus:,} of {quota.name} ({quota.code})' for quota, vcpus in needs)}"


def quotas_of_hyperpod(cluster: ClusterFile) -> str:
    """Describe the nodes by quota of SageMaker: those on demand by type, all of them, and the size of their volumes."""
    usage = hyperpod_usage(cluster)
    words = [f"{count:,} of ml.{name} for cluster usage" for name, count in usage.on_demand.items()]
    words += [f"{count:,} of ml.{name} for cluster spot instance usage" for name, count in usage.spot.items()]
    words.append(f"{usage.instances:,} instances of one HyperPod cluster, and of all")
    words.append(f"volumes of {usage.volume_gib:,} GB")
    return f"quotas of SageMaker: {', '.join(words)}"


def root_volumes_tib(cluster: ClusterFile) -> int:
    """Return the gp3 storage of the root volumes of all nodes, in TiB, rounded up; 0 if they are in another account."""
    if not cluster.traits.own_instances:
        return 0
    gib = sum(group.count * float(group.root_volume.gib) for group in cluster.node_groups)
    return ceil((gib + cluster.service_count * _SERVICE_GIB) / 1024)


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodUsage:
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
