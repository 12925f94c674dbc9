"""Warnings about metrics, alerts and dashboards."""

from collections.abc import Iterator

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.node_group import KUBERNETES


def observability_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
    wish = cluster.observability
    if not wish.on:
        return
    given = {group.section: group.image for group in cluster.node_groups} | {"login": cluster.slurm.login.image}
    # Under Kubernetes the programs are containers.
    if cluster.orchestrator != KUBERNETES and (lacking := [name for name, image in given.items() if image is None]):
        yield (
            "metrics-programs",
            f"{', '.join(lacking)}: nodes send metrics with prometheus and node_exporter, and with dcgm-exporter where "
            "they have GPUs, and no page says that AWS's image has them; without them the dashboards stay empty. Make "
            "an image with compute.ImagePipeline, or put them into /opt/ultracluster/bin of one of yours, or write "
            "observability: {profile: none}",
        )
    if wish.grafana.kind != "none" and cluster.grafana == "none":
        yield (
            "grafana-private",
            "no Grafana is made: a server of your own installs it from the internet, and there is no way there. Write "
            "grafana: {kind: none} if that is right, or kind: managed where the region has it",
        )
    elif wish.grafana.kind == "managed" and cluster.grafana != "managed":
        yield (
            "grafana-region",
            f"{cluster.region} has no Amazon Managed Grafana, so a small server of your own shows the dashboards; "
            "write grafana: {kind: self-hosted} if that is right",
        )
    alerts = wish.alerts
    if wish.workspace is None and alerts.topic is None and alerts.email is None and alerts.pagerduty is None:
        yield (
            "alerts-unheard",
            "nobody is subscribed to the topic of the alerts; write observability: {alerts: {email: ...}}, or name a "
            "topic of yours or PagerDuty",
        )
    if wish.workspace is not None:
        yield (
            "alert-manager",
            f"{wish.workspace.rpartition('/')[2]} gets the rules, and its own alert manager says who hears of alerts; "
            "it must let alerts of the label severity reach somebody",
        )
