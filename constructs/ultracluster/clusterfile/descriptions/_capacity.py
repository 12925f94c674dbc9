"""End of the capacity of a node group, and the quotas that nodes use."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.planning.capacity import OnDemand, vcpu_needs


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


def quotas_of_hyperpod(cluster: ClusterFile, others: Iterable[tuple[str, int]] = ()) -> str:
    """Describe the nodes by quota of SageMaker: those of node groups on demand, and others, by type and number."""
    usage = Counter[str]()
    for group in cluster.node_groups:
        if isinstance(group.capacity, OnDemand):
            usage[group.instance_type.name] += group.count
    for name, count in others:
        usage[name] += count
    words = ", ".join(f"{count:,} of ml.{name} for cluster usage" for name, count in usage.items())
    return f"quotas of SageMaker: {words}" if words else ""
