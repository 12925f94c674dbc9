"""What a cluster file asks for: rules, and what collects on a Kubernetes cluster."""

from collections.abc import Mapping
from typing import Any

from ultracluster.clusterfile import ClusterFile
from ultracluster.hardware import interfaces
from ultracluster.metrics.cluster_objects import cluster_objects
from ultracluster.metrics.collectors import RemoteWrite
from ultracluster.metrics.metric import Profile
from ultracluster.metrics.objects import node_objects, shared_objects
from ultracluster.metrics.rules import RUNBOOKS, rules

# EKS's own label of a managed group: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (read
# 2026-11-21)
_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
_SYSTEM = "system"


def profile_of(cluster: ClusterFile) -> Profile | None:
    """How much is collected; None: nothing is."""
    wish = cluster.observability
    return Profile[wish.profile.upper()] if wish.on else None


def cluster_rules(cluster: ClusterFile) -> dict[str, str]:
    """The rule files of the cluster, by name; none when the file asks for no metrics."""
    profile = profile_of(cluster)
    if profile is None:
        return {}
    inventory = {(cluster.name, group): count for group, count in cluster.expected_nodes.items()}
    return rules(
        profile,
        inventory=inventory,
        runbooks=cluster.observability.alerts.runbooks or RUNBOOKS,
        # In a workspace of ours too: another cluster may be given that.
        cluster=cluster.name,
    )


def collector_objects(
    cluster: ClusterFile, *, url: str, selectors: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """The collectors of every node group, of the system nodes, and of the cluster as a whole.

    Args:
        cluster: The file.
        url: Where samples go: the stacks' output `RemoteWriteUrl`.
        selectors: Labels of the nodes of each group, by its name.

    Returns:
        Nothing when the file asks for no metrics.
    """
    profile = profile_of(cluster)
    if profile is None:
        return []
    theirs = cluster.observability.workspace
    to = RemoteWrite(region=cluster.region if theirs is None else theirs.split(":")[3], url=url)
    groups = [
        (
            group.name,
            group.instance_type,
            sum(one.kind in ("efa", "efa-only") for one in interfaces(group.instance_type, group.layout)),
            selectors[group.name],
        )
        for group in cluster.node_groups
    ]
    if cluster.service_count:
        groups.append((_SYSTEM, cluster.service_type, 0, {_GROUP_LABEL: _SYSTEM}))
    return [
        *shared_objects(),
        *(
            made
            for name, instance_type, efa, selector in groups
            for made in node_objects(
                instance_type,
                cluster=cluster.name,
                group=name,
                efa_devices=efa,
                to=to,
                selector=selector,
                profile=profile,
            )
        ),
        *cluster_objects(cluster=cluster.name, to=to, profile=profile),
    ]
