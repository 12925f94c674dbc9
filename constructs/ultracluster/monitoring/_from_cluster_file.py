"""Rules and Kubernetes collectors of a cluster file."""

from collections.abc import Mapping
from typing import Any

from ultracluster.catalogue.ec2 import interfaces
from ultracluster.clusterfile import ALERT_TUNING, ClusterFile, Path, Problem
from ultracluster.monitoring.alerts import RUNBOOKS, Tuning, rules, tuning_problems
from ultracluster.monitoring.collectors import RemoteWrite, cluster_objects, node_objects, shared_objects
from ultracluster.monitoring.names import Profile

# EKS's own label of a managed group: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (read
# 2026-11-21)
_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
_SYSTEM = "system"


def profile_of(cluster: ClusterFile) -> Profile | None:
    """Return the metrics profile, or None without observability."""
    section = cluster.observability
    return Profile[section.profile.upper()] if section.on else None


def cluster_rules(cluster: ClusterFile) -> dict[str, str]:
    """Return the rule files of the cluster by name; empty without observability."""
    profile = profile_of(cluster)
    if profile is None:
        return {}
    inventory = {(cluster.name, group): count for group, count in cluster.expected_nodes.items()}
    return rules(
        profile,
        inventory=inventory,
        runbooks=cluster.observability.alerts.runbooks or RUNBOOKS,
        tuning=Tuning(**_changes(cluster)),
        # Another cluster may share the workspace, even one created here.
        cluster=cluster.name,
    )


def file_problems(cluster: ClusterFile) -> list[Problem]:
    """Return the errors of a cluster file that only the list of alerts shows."""
    place: Path = ("observability", "alerts")
    return [
        ALERT_TUNING((*place, key.replace("_", "-"), name), message, at_key=True)
        for key, name, message in tuning_problems(_changes(cluster))
    ]


def _changes(cluster: ClusterFile) -> dict[str, Any]:
    alerts = cluster.observability.alerts
    pending = {name: f"{period.seconds}s" for name, period in alerts.pending_period.items()}
    return {
        "off": alerts.off,
        "severity": alerts.severity,
        "thresholds": alerts.thresholds,
        "pending_period": pending,
    }


def collector_objects(
    cluster: ClusterFile, *, url: str, selectors: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the collectors of every node group, of the system nodes, and of the cluster as a whole.

    Args:
        cluster: Cluster file.
        url: Remote write URL: the stacks' output `RemoteWriteUrl`.
        selectors: Labels of the nodes of each group, by its name.

    Returns:
        Objects; empty without observability.
    """
    profile = profile_of(cluster)
    if profile is None:
        return []
    workspace = cluster.observability.workspace
    to = RemoteWrite(region=cluster.region if workspace is None else workspace.split(":")[3], url=url)
    groups = [
        (
            group.name,
            group.instance_type,
            sum(interface.kind in ("efa", "efa-only") for interface in interfaces(group.instance_type, group.layout)),
            selectors[group.name],
        )
        for group in cluster.node_groups
    ]
    if cluster.service_count:
        groups.append((_SYSTEM, cluster.service_type, 0, {_GROUP_LABEL: _SYSTEM}))
    return [
        *shared_objects(),
        *(
            object
            for name, instance_type, efa, selector in groups
            for object in node_objects(
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
