"""Metrics, alerts and dashboards, from a cluster file."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster import metrics
from ultracluster.clusterfile import ClusterFile
from ultracluster.clusterfile.sections.observability import Grafana
from ultracluster.hardware import InstanceType, Layout, interfaces
from ultracluster.metrics.dashboard_files import dashboards, lustre_dashboards
from ultracluster.observability import (
    AlertTopic,
    ExistingPrometheusWorkspace,
    GrafanaContent,
    GrafanaWorkspace,
    PrometheusAlarms,
    PrometheusEndpoint,
    PrometheusWorkspace,
    Saml,
    SelfHostedGrafana,
    grant_cloudwatch,
)
from ultracluster.observability.prometheus_workspace import query_url
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.storage_part import Storage
from ultracluster.planning import NodeBoot

_DAY = 86_400
_LOGIN = "login"


@dataclass(frozen=True, kw_only=True)
class Observability:
    """Where metrics go, who hears of alerts, and where dashboards are looked at."""

    workspace: PrometheusWorkspace | ExistingPrometheusWorkspace
    topic: sns.ITopic
    #: How a person gets to the dashboards: an address, or a command. None: the file asks for none, or has a workspace.
    dashboards: str | None


def observability(
    scope: Construct, cluster: ClusterFile, network: Network, storage: Storage, *, nodes: Sequence[iam.IRole]
) -> Observability | None:
    """All that the file asks for; None when it asks for nothing.

    Args:
        scope: Where it belongs.
        cluster: The file.
        network: Where a server of Grafana stands.
        storage: What has alarms.
        nodes: Roles that write metrics: of the nodes, or under Kubernetes of the collectors.
    """
    wish = cluster.observability
    if not wish.on:
        return None
    theirs = wish.alerts.topic
    alerts = AlertTopic(
        scope,
        "Alerts",
        topic=None if theirs is None else sns.Topic.from_topic_arn(scope, "AlertsTopic", theirs),
        email=wish.alerts.email,
    )
    workspace = _workspace(scope, cluster, alerts.topic)
    alerts.allow_workspace(workspace.arn)
    for role in nodes:
        workspace.grants.write(role)
    if isinstance(workspace, PrometheusWorkspace) and cluster.orchestrator == "slurm":
        _remote_write_url(scope, cluster, workspace, nodes)
    PrometheusAlarms(scope, "PrometheusAlarms", workspace_id=workspace.workspace_id, topic=alerts.topic)
    _storage_alarms(scope, cluster, storage, alerts.topic)
    clients: list[ec2.ISecurityGroup] = [network.nodes]
    way_in = _grafana(scope, cluster, network, storage, workspace, clients)
    if wish.vpc_endpoint:
        PrometheusEndpoint(scope, "Endpoint", vpc=network.vpc, subnet=network.training_subnet, clients=clients)
    return Observability(workspace=workspace, topic=alerts.topic, dashboards=way_in)


def collectors(
    cluster: ClusterFile, instance_type: InstanceType, *, group: str = _LOGIN, layout: Layout | None = None
) -> list[NodeBoot]:
    """What collects on a node: files and units for its boot; none when the file asks for no metrics.

    Args:
        cluster: The file.
        instance_type: Type of the node.
        group: Name of its node group. Default: it is a login node.
        layout: Its network interfaces. None: none is for EFA.
    """
    wish = cluster.observability
    if not wish.on:
        return []
    devices = 0 if layout is None else sum(one.kind in ("efa", "efa-only") for one in interfaces(instance_type, layout))
    return [
        metrics.node_collectors(
            instance_type,
            cluster=cluster.name,
            group=group,
            efa_devices=devices,
            to=_destination(cluster),
            profile=_profile(cluster),
            # The nodes that are always there; of several, rules take one answer.
            slurm=group == _LOGIN and cluster.slurm_metrics,
        )
    ]


def _profile(cluster: ClusterFile) -> metrics.Profile:
    profile = metrics.profile_of(cluster)
    assert profile is not None
    return profile


def _parameter(cluster: ClusterFile) -> str:
    return f"/ultracluster/{cluster.name}/remote-write-url"


def _destination(cluster: ClusterFile) -> metrics.RemoteWrite:
    arn = cluster.observability.workspace
    if arn is None:
        return metrics.RemoteWrite(region=cluster.region, parameter=_parameter(cluster))
    return metrics.RemoteWrite(region=arn.split(":")[3], url=f"{query_url(arn)}/api/v1/remote_write")


def _workspace(
    scope: Construct, cluster: ClusterFile, topic: sns.ITopic
) -> PrometheusWorkspace | ExistingPrometheusWorkspace:
    wish = cluster.observability
    rules = metrics.cluster_rules(cluster)
    if wish.workspace is not None:
        # Its namespaces are shared with other clusters, perhaps.
        named = {f"{cluster.name}-{name}": text for name, text in rules.items()}
        return ExistingPrometheusWorkspace(scope, "Prometheus", arn=wish.workspace, rules=named)
    heard = metrics.sns(topic.topic_arn, cluster.region)
    pager = {} if wish.alerts.pagerduty is None else metrics.pagerduty(wish.alerts.pagerduty)
    return PrometheusWorkspace(
        scope,
        "Prometheus",
        alias=cluster.name,
        rules=rules,
        alert_manager=metrics.amp_definition(metrics.alertmanager(warning=heard, critical={**heard, **pager})),
        retention_days=wish.retention.seconds // _DAY,
        series_limits={cluster.name: cluster.series_limit},
    )


def _remote_write_url(
    scope: Construct, cluster: ClusterFile, workspace: PrometheusWorkspace, nodes: Sequence[iam.IRole]
) -> None:
    """Tell nodes where to write.

    Only a deployment knows it. Nodes read it when their agent starts, so that another workspace replaces no node.
    """
    parameter = ssm.StringParameter(
        scope,
        "RemoteWriteUrl",
        parameter_name=_parameter(cluster),
        string_value=workspace.remote_write_url,
        description=f"Where the nodes of {cluster.name} write their metrics",
    )
    statement = iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[parameter.parameter_arn])
    iam.ManagedPolicy(scope, "ReadRemoteWriteUrl", statements=[statement], roles=list(nodes))


def _storage_alarms(scope: Construct, cluster: ClusterFile, storage: Storage, topic: sns.ITopic) -> None:
    if storage.lustre is not None:
        wish = cluster.storage.lustre
        exports = wish is not None and any(link.export for link in wish.links.values())
        storage.lustre.metrics.alarms(Construct(scope, "LustreAlarms"), topic, exports=exports)
    if storage.home is not None:
        storage.home.alarms(topic, scope=Construct(scope, "HomeAlarms"))


def _grafana(
    scope: Construct,
    cluster: ClusterFile,
    network: Network,
    storage: Storage,
    workspace: PrometheusWorkspace | ExistingPrometheusWorkspace,
    clients: list[ec2.ISecurityGroup],
) -> str | None:
    wish = cluster.observability.grafana
    if cluster.grafana == "none":
        return None
    # Only FSx knows how busy its servers are.
    cloudwatch = None if storage.lustre is None else cluster.region
    boards = {**dashboards(), **({} if cloudwatch is None else lustre_dashboards())}
    if cluster.grafana == "self-hosted":
        server = SelfHostedGrafana(
            scope,
            "Grafana",
            name=cluster.name,
            vpc=network.vpc,
            subnet=network.services_subnet,
            dashboards=boards,
            query_url=workspace.query_url,
            region=workspace.region,
            cloudwatch_region=cloudwatch,
        )
        # A server needs its routes before it boots.
        server.node.add_dependency(*network.ready)
        workspace.grants.query(server.role)
        if cloudwatch is not None:
            grant_cloudwatch(server, server.role)
        clients.append(server.security_group)
        return server.command
    url = None
    workspace_id = wish.workspace
    if workspace_id is None:
        made = GrafanaWorkspace(scope, "Grafana", name=cluster.name, saml=_saml(wish))
        workspace.grants.query(made.role)
        if cloudwatch is not None:
            grant_cloudwatch(made, made.role)
        workspace_id, url = made.workspace_id, made.url
    GrafanaContent(
        scope,
        "GrafanaContent",
        name=cluster.name,
        workspace_id=workspace_id,
        dashboards=boards,
        query_url=workspace.query_url,
        region=workspace.region,
        cloudwatch_region=cloudwatch,
    )
    return url


def _saml(wish: Grafana) -> Saml | None:
    if wish.saml is None:
        return None
    return Saml(
        metadata_url=wish.saml.metadata,
        role_attribute=wish.saml.role_attribute,
        admin_roles=wish.saml.admins,
        editor_roles=wish.saml.editors,
    )
