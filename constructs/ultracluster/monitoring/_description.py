"""Volume and cost of the metrics of a cluster, in words and as data."""

from collections.abc import Callable, Mapping
from typing import Any

from ultracluster.catalogue.monitoring import ACTIVE_SERIES, LEAST_SERIES
from ultracluster.clusterfile import ClusterFile, Description
from ultracluster.monitoring._cluster_volume import KubernetesSource, SlurmSource
from ultracluster.monitoring._volume import Volume, volume
from ultracluster.monitoring.names import Profile

# Share of a limit from which an alert fires.
_NEAR = 0.8


def _slurm(cluster: ClusterFile) -> SlurmSource | None:
    if not cluster.slurm_metrics or not cluster.service_count:
        return None
    return SlurmSource(queues=len(cluster.queues), scrapers=cluster.service_count)


def _kubernetes(cluster: ClusterFile) -> KubernetesSource:
    teams = len(cluster.kubernetes.teams) or 1
    return KubernetesSource(queues=teams + 1 if cluster.kubernetes.scheduler == "kueue" else 0)


# Targets that are scraped once for the cluster.
_SOURCES: Mapping[str, Callable[[ClusterFile], SlurmSource | KubernetesSource | None]] = {
    "slurm": _slurm,
    "kubernetes": _kubernetes,
    "hyperpod-slurm": _slurm,
    "hyperpod-kubernetes": _kubernetes,
}


def _volume(cluster: ClusterFile) -> Volume:
    groups = [
        (group.instance_type, sum(interface.kind in ("efa", "efa-only") for interface in group.interfaces), group.count)
        for group in cluster.node_groups
    ]
    login = (cluster.service_type, 0, cluster.service_count)
    profile = Profile[cluster.observability.profile.upper()]
    days = cluster.observability.retention.timedelta.days
    return volume([*groups, login], profile, source=_SOURCES[cluster.orchestrator](cluster), retention_days=days)


def near_series(cluster: ClusterFile) -> int:
    """Return the scraped series from which a cluster is near its limit of all series, or the quota of its workspace."""
    total = _volume(cluster)
    limit = ACTIVE_SERIES if cluster.observability.workspace else cluster.series_limit or ACTIVE_SERIES
    # Without nodes nothing is sent, and half is as good as any share.
    return round(_NEAR * limit * (total.scraped / total.series if total.scraped else 0.5))


def _facts(cluster: ClusterFile) -> dict[str, Any] | None:
    """Volume and cost as data, or None if monitoring is off."""
    section = cluster.observability
    if not section.on:
        return None
    total = _volume(cluster)
    return {
        "profile": section.profile,
        "grafana": cluster.grafana,
        "series": total.series,
        "series_limit": None if section.workspace else cluster.series_limit,
        "samples_per_s": round(total.samples_per_s),
        "usd_per_month": round(total.usd_per_month),
    }


def describe(cluster: ClusterFile) -> Description:
    """Describe volume and cost of the metrics."""
    facts = _facts(cluster)
    lines = [] if facts is None else _lines(facts)
    return Description(name="observability", lines=[*lines, *_logs(cluster)], facts=facts)


def _logs(cluster: ClusterFile) -> list[str]:
    add_on, section = cluster.traits.logs_add_on, cluster.kubernetes
    if not add_on or section.existing is not None or add_on in section.requested_add_ons:
        return []
    return ["logs: those of pods end with their nodes; kubernetes: {logs: true} sends them to CloudWatch"]


def _lines(facts: Mapping[str, Any]) -> list[str]:
    limit = "" if facts["series_limit"] is None else f" of at most {facts['series_limit']:,}"
    grafana = {
        "self-hosted": "dashboards on a self-hosted server",
        "managed": "dashboards in Amazon Managed Grafana",
        "none": "no dashboards",
    }
    steps = (
        f"metrics: a workspace accepts {LEAST_SERIES:,} active series at once, and from then on twice the mean of the "
        "last 30 minutes; start the nodes in steps"
    )
    return [
        f"metrics: profile {facts['profile']}, about {facts['series']:,} active series{limit}, "
        f"{facts['samples_per_s']:,} samples/s, ${facts['usd_per_month']:,} a month at prices of us-east-1; "
        f"{grafana[facts['grafana']]}",
        *([steps] if facts["series"] > LEAST_SERIES else []),
    ]
