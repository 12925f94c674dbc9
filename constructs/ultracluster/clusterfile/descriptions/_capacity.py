"""End of the capacity of a node group, and the quotas that nodes use."""

from datetime import datetime
from typing import NamedTuple

from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._quota_usage import hyperpod_usage
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


def quotas_of_hyperpod(cluster: ClusterFile) -> str:
    """Describe the nodes by quota of SageMaker: those on demand by type, all of them, and the size of their volumes."""
    usage = hyperpod_usage(cluster)
    words = [f"{count:,} of {hyperpod.QUOTA.format(f'ml.{name}')}" for name, count in usage.on_demand.items()]
    words += [f"{count:,} of {hyperpod.SPOT_QUOTA.format(f'ml.{name}')}" for name, count in usage.spot.items()]
    words.append(f"{usage.instances:,} instances of one HyperPod cluster, and of all")
    words.append(f"volumes of {usage.volume_gib:,} GB")
    return f"quotas of SageMaker: {', '.join(words)}"
