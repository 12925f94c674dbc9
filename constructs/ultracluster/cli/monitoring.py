"""What a cluster file says of metrics, alerts and dashboards, as `check` tells it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile
    from ultracluster.metrics import KubernetesSource, SlurmSource


def observability_facts(cluster: "ClusterFile") -> dict[str, Any] | None:
    """The same as data; None when the file asks for nothing."""
    from ultracluster.metrics import Profile
    from ultracluster.metrics.volume import volume

    wish = cluster.observability
    if not wish.on:
        return None
    groups = [
        (group.instance_type, sum(one.kind in ("efa", "efa-only") for one in group.interfaces), group.count)
        for group in cluster.node_groups
    ]
    login = (cluster.service_type, 0, cluster.service_count)
    made = volume([*groups, login], Profile[wish.profile.upper()], source=_source(cluster))
    return {
        "profile": wish.profile,
        "grafana": cluster.grafana,
        "series": made.series,
        "series_limit": None if wish.workspace else cluster.series_limit,
        "samples_per_s": round(made.samples_per_s),
        "usd_per_month": round(made.usd_per_month),
    }


def _source(cluster: "ClusterFile") -> "SlurmSource | KubernetesSource | None":
    """What is asked once for the cluster."""
    from ultracluster.metrics import KubernetesSource, SlurmSource

    if cluster.orchestrator == "kubernetes":
        # A queue for each team, and one for the checks of the nodes.
        teams = len(cluster.kubernetes.teams) or 1
        return KubernetesSource(queues=teams + 1 if cluster.kubernetes.scheduler == "kueue" else 0)
    if not cluster.slurm_metrics or not cluster.service_count:
        return None
    return SlurmSource(queues=len(cluster.queues), askers=cluster.service_count)


def observability_sentences(cluster: "ClusterFile") -> list[str]:
    """A line for people; none when the file asks for nothing."""
    facts = observability_facts(cluster)
    if facts is None:
        return []
    limit = "" if facts["series_limit"] is None else f" of at most {facts['series_limit']:,}"
    grafana = {"self-hosted": "on a server of your own", "managed": "in Amazon Managed Grafana", "none": "nowhere"}
    return [
        f"metrics: profile {facts['profile']}, about {facts['series']:,} active series{limit}, "
        f"{facts['samples_per_s']:,} samples/s, ${facts['usd_per_month']:,} a month at prices of us-east-1; dashboards "
        f"{grafana[facts['grafana']]}"
    ]
