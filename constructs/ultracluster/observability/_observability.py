"""The monitoring of a cluster, from its file."""

from dataclasses import dataclass
from typing import cast

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, Grafana
from ultracluster.monitoring import alert_routes, cluster_dashboards, cluster_rules
from ultracluster.monitoring import alerts as alert_receivers
from ultracluster.monitoring.alerts import WATCHDOG, alertmanager, amp_definition, pagerduty
from ultracluster.network import Network
from ultracluster.observability._alert_topic import AlertTopic
from ultracluster.observability._cloudwatch_access import CloudWatchGrants
from ultracluster.observability._grafana_provisioning import GrafanaContent
from ultracluster.observability._grafana_workspace import GrafanaWorkspace, IGrafanaWorkspace, Saml
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_endpoint import PrometheusEndpoint
from ultracluster.observability._prometheus_rules import PrometheusRules
from ultracluster.observability._prometheus_workspace import PrometheusWorkspace
from ultracluster.observability._self_hosted_grafana import SelfHostedGrafana
from ultracluster.storage import Storage

_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Observability:
    """Metrics workspace, topic of alerts, and dashboards of a cluster."""

    workspace: IPrometheusWorkspace
    topic: sns.ITopic
    #: Address of the dashboards, or a command that opens them. None: the file has none, or names a workspace.
    dashboards: str | None
    #: Name of the Auto Scaling group of the Grafana server; see `SelfHostedGrafana.group_pattern`. None: there is no
    #: such server.
    grafana_group: str | None

    @classmethod
    def from_cluster_file(
        cls, scope: Construct, cluster: ClusterFile, *, network: Network, storage: Storage
    ) -> "Observability | None":
        """Create the monitoring of a cluster file; None if it is switched off.

        Args:
            scope: Scope of the resources.
            cluster: Cluster file.
            network: Network of a Grafana server.
            storage: File systems that get alarms.
        """
        section = cluster.observability
        if not section.on:
            return None
        arn = section.alerts.topic
        alerts = AlertTopic(
            scope,
            "Alerts",
            topic=None if arn is None else sns.Topic.from_topic_arn(scope, "AlertsTopic", arn),
            email=section.alerts.email,
        )
        managed = _managed_grafana(scope, cluster)
        # A workspace of the file has an alert manager of its own.
        named = section.workspace is not None or section.alerts.watchdog is not None
        watchdog = None if named or WATCHDOG in section.alerts.off else AlertTopic(scope, "Watchdog")
        workspace = _workspace(scope, cluster, alerts.topic, watchdog, managed)
        alerts.grants.publish(workspace)
        if watchdog is not None:
            watchdog.grants.publish(workspace)
            # Without rules and alert manager, it would be in ALARM while they are created.
            _watchdog_alarm(scope, watchdog.topic, alerts.topic).node.add_dependency(workspace)
        workspace.alarms.add_all(alerts.topic, scope=Construct(scope, "PrometheusAlarms"))
        _storage_alarms(scope, cluster, storage, alerts.topic)
        clients: list[ec2.IConnectable] = [network.nodes]
        address, group = _grafana(scope, cluster, network, storage, workspace, managed, clients)
        if section.vpc_endpoint:
            PrometheusEndpoint(scope, "Endpoint", vpc=network.vpc, subnet=network.training_subnet, clients=clients)
        return cls(workspace=workspace, topic=alerts.topic, dashboards=address, grafana_group=group)


def _managed_grafana(scope: Construct, cluster: ClusterFile) -> IGrafanaWorkspace | None:
    """Return the workspace of Amazon Managed Grafana, which the rules link to, or None without one."""
    section = cluster.observability.grafana
    if cluster.grafana != "managed":
        return None
    if section.workspace is not None:
        return GrafanaWorkspace.from_workspace_attributes(scope, "Grafana", workspace_id=section.workspace)
    return GrafanaWorkspace(scope, "Grafana", name=cluster.name, saml=_saml(section))


def _workspace(
    scope: Construct,
    cluster: ClusterFile,
    topic: sns.ITopic,
    watchdog: AlertTopic | None,
    grafana: IGrafanaWorkspace | None,
) -> IPrometheusWorkspace:
    section = cluster.observability
    rules = cluster_rules(cluster, grafana=None if grafana is None else grafana.url)
    if section.workspace is not None:
        # Its namespaces are shared with other clusters, perhaps.
        named = {f"{cluster.name}-{name}": text for name, text in rules.items()}
        workspace = PrometheusWorkspace.from_workspace_arn(scope, "Prometheus", section.workspace)
        PrometheusRules(cast(Construct, workspace), "Rules", workspace=workspace, rules=named)
        return workspace
    receivers = alert_receivers.sns(topic.topic_arn, cluster.region)
    pager = {} if section.alerts.pagerduty is None else pagerduty(section.alerts.pagerduty)
    watched = section.alerts.watchdog if watchdog is None else watchdog.topic.topic_arn
    return PrometheusWorkspace(
        scope,
        "Prometheus",
        alias=cluster.name,
        rules=rules,
        alert_manager=amp_definition(
            alertmanager(
                warning=receivers,
                critical={**receivers, **pager},
                watchdog=None if watched is None else alert_receivers.sns(watched, cluster.region),
                routes=alert_routes(cluster),
            )
        ),
        retention_days=section.retention.seconds // _DAY,
        series_limits={cluster.name: cluster.series_limit},
    )


def _watchdog_alarm(scope: Construct, watchdog: sns.ITopic, notified: sns.ITopic) -> cloudwatch.CfnAlarm:
    """Create the alarm of a topic that gets the Watchdog alone: rules and alert manager do not notify of their failure.

    The Watchdog is sent every five minutes, and SNS reports it each minute: one of three periods has it. See
    https://docs.aws.amazon.com/sns/latest/dg/sns-monitoring-using-cloudwatch.html (read 2026-11-28)
    """
    return cloudwatch.CfnAlarm(
        scope,
        "WatchdogAlarm",
        alarm_description="The alert Watchdog, which always fires, was not sent for 15 minutes, and no other alert is "
        "sent: docs/runbooks/Watchdog.md",
        namespace="AWS/SNS",
        metric_name="NumberOfMessagesPublished",
        dimensions=[{"name": "TopicName", "value": watchdog.topic_name}],
        statistic="Sum",
        period=300,
        evaluation_periods=3,
        threshold=1,
        comparison_operator="LessThanThreshold",
        treat_missing_data="breaching",
        alarm_actions=[notified.topic_arn],
        ok_actions=[notified.topic_arn],
    )


def _storage_alarms(scope: Construct, cluster: ClusterFile, storage: Storage, topic: sns.ITopic) -> None:
    if storage.lustre is not None:
        section = cluster.storage.lustre
        links = section.data_repository_associations.values() if section else ()
        idle = {
            "ExportFails": not any(link.export for link in links),
            "ExportLags": not any(link.export for link in links),
            "ImportLags": not any(link.import_ for link in links),
        }
        # An adopted file system keeps the associations that it had, which the file does not name.
        adopted = section is not None and section.adopt is not None
        alarms = storage.lustre.alarms
        alarms.add_all(
            topic,
            leave_out=[name for name in alarms.names if idle.get(name) and not adopted],
            scope=Construct(scope, "LustreAlarms"),
        )
    if storage.home is not None:
        storage.home.alarms.add_all(topic, scope=Construct(scope, "HomeAlarms"))


def _grafana(
    scope: Construct,
    cluster: ClusterFile,
    network: Network,
    storage: Storage,
    workspace: IPrometheusWorkspace,
    managed: IGrafanaWorkspace | None,
    clients: list[ec2.IConnectable],
) -> tuple[str | None, str | None]:
    """Create the dashboards, and return how they are opened and the group of their server."""
    section = cluster.observability.grafana
    if cluster.grafana == "none":
        return None, None
    lustre = storage.lustre is not None
    boards, log_groups = cluster_dashboards(cluster, lustre=lustre)
    region = cluster.region if lustre or log_groups else None

    def grant(grafana: SelfHostedGrafana | GrafanaWorkspace) -> None:
        workspace.grants.query(grafana)
        if lustre:
            CloudWatchGrants.read(grafana)
        if log_groups:
            CloudWatchGrants.read_logs(grafana, log_groups)

    if managed is None:
        server = SelfHostedGrafana(
            scope,
            "Grafana",
            name=cluster.name,
            vpc=network.vpc,
            subnet=network.services_subnet,
            workspace=workspace,
            dashboards=boards,
            cloudwatch_region=region,
        )
        # A server needs its routes before it boots.
        server.node.add_dependency(*network.ready)
        grant(server)
        clients.append(server)
        return server.command, server.group_pattern
    created = managed if isinstance(managed, GrafanaWorkspace) else None
    if created is not None:
        grant(created)
    GrafanaContent(
        scope,
        "GrafanaContent",
        name=cluster.name,
        grafana=managed,
        workspace=workspace,
        dashboards=boards,
        cloudwatch_region=region,
        users=section.users,
        groups=section.groups,
    )
    return None if created is None else created.url, None


def _saml(section: Grafana) -> Saml | None:
    if section.saml is None:
        return None
    return Saml(
        metadata_url=section.saml.metadata,
        role_attribute=section.saml.role_attribute,
        email_attribute=section.saml.email_attribute,
        admin_roles=section.saml.admins,
        editor_roles=section.saml.editors,
    )
