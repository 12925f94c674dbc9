"""`ultracluster check`: metrics, alerts and dashboards."""

from typing import TYPE_CHECKING, Any

from ultracluster.cli._orchestrators import orchestrator

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def observability_facts(cluster: "ClusterFile") -> dict[str, Any] | None:
    """Volume and cost of the metrics as data, or None if monitoring is off."""
    from ultracluster.monitoring import volume
    from ultracluster.monitoring.names import Profile

    section = cluster.observability
    if not section.on:
        return None
    groups = [
        (group.instance_type, sum(interface.kind in ("efa", "efa-only") for interface in group.interfaces), group.count)
        for group in cluster.node_groups
    ]
    login = (cluster.service_type, 0, cluster.service_count)
    total = volume(
        [*groups, login], Profile[section.profile.upper()], source=orchestrator(cluster).metrics_source(cluster)
    )
    return {
        "profile": section.profile,
        "grafana": cluster.grafana,
        "series": total.series,
        "series_limit": None if section.workspace else cluster.series_limit,
        "samples_per_s": round(total.samples_per_s),
        "usd_per_month": round(total.usd_per_month),
    }


def observability_sentences(cluster: "ClusterFile") -> list[str]:
    """Describe volume and cost of the metrics; empty if monitoring is off."""
    facts = observability_facts(cluster)
    if facts is None:
        return []
    limit = "" if facts["series_limit"] is None else f" of at most {facts['series_limit']:,}"
    grafana = {"self-hosted": "on a self-hosted server", "managed": "in Amazon Managed Grafana", "none": "nowhere"}
    return [
        f"metrics: profile {facts['profile']}, about {facts['series']:,} active series{limit}, "
        f"{facts['samples_per_s']:,} samples/s, ${facts['usd_per_month']:,} a month at prices of us-east-1; dashboards "
        f"{grafana[facts['grafana']]}"
    ]
