"""Rows of `ultracluster.observability`."""

from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns
from constructs import Construct

from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import World
from ultracluster import observability

_WORKSPACE_ID = "ws-01234567-89ab-cdef-0123-456789abcdef"
_WORKSPACE_ARN = f"arn:aws:aps:us-east-2:123456789012:workspace/{_WORKSPACE_ID}"
_GRAFANA_ID = "g-0123456789"
_RULES = """groups:
  - name: alerts
    rules:
      - alert: Watchdog
        expr: vector(1)
"""
_NO_NETWORK = No("it has no network interface")
_NO_ROLE = No("it has no role")
_NOT_PASSED = No("no other construct refers to it")
_NO_PERMISSIONS = No("there is nothing that a principal could be allowed to do with it")


def _subnet(scope: Construct, id: str) -> ec2.ISubnet:
    return ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", "subnet-0123456789abcdef0")


def _workspace(scope: Construct, id: str, alias: str = "llama") -> observability.PrometheusWorkspace:
    return observability.PrometheusWorkspace(scope, id, alias=alias, rules={"alerts.yaml": _RULES})


def _imported(scope: Construct, id: str) -> observability.IPrometheusWorkspace:
    return observability.PrometheusWorkspace.from_workspace_arn(scope, id, _WORKSPACE_ARN)


def _content(scope: Construct, id: str, grafana: str = _GRAFANA_ID) -> observability.GrafanaContent:
    return observability.GrafanaContent(
        scope,
        id,
        name="llama",
        grafana=grafana,
        workspace=_WORKSPACE_ARN,
        dashboards={},
    )


def _server(scope: Construct, id: str, world: World, workspace: str = _WORKSPACE_ARN) -> Any:
    return observability.SelfHostedGrafana(
        scope,
        id,
        name="llama",
        vpc=world.vpc,
        subnet=world.subnet,
        workspace=workspace,
        dashboards={},
    )


def _scraper(scope: Construct, id: str, world: World, workspace: str = _WORKSPACE_ARN) -> Any:
    return observability.PrometheusScraper(
        scope,
        id,
        alias="controller",
        workspace=workspace,
        configuration="scrape_configs: []",
        subnets=[world.subnet, _subnet(scope, id)],
        security_groups=[world.security_group],
    )


def _detector(
    scope: Construct, id: str, workspace: observability.IPrometheusWorkspace | str
) -> observability.AnomalyDetector:
    return observability.AnomalyDetector(scope, id, alias="power", workspace=workspace, query="x")


def _detector_of(scope: Construct, id: str, world: World) -> observability.AnomalyDetector:
    return _detector(scope, id, _workspace(scope, f"{id}Workspace"))


def _rules(scope: Construct, id: str, workspace: observability.IPrometheusWorkspace) -> observability.PrometheusRules:
    return observability.PrometheusRules(scope, id, workspace=workspace, rules={"alerts.yaml": _RULES})


ROWS: dict[str, Row] = {
    "AlertTopic": Row(
        make=lambda scope, id, world: observability.AlertTopic(scope, id),
        connects=_NO_NETWORK,
        grants=Grants(methods=("publish",)),
        principal=_NO_ROLE,
        tags=["AWS::SNS::Topic", "AWS::KMS::Key"],
        default_child=No("it is a topic of the CDK, created or imported, and its key"),
        tokens=lambda scope, id, world: observability.AlertTopic(
            scope, id, topic=sns.Topic.from_topic_arn(scope, f"{id}Topic", world.token("Topic")), email="a@example.com"
        ),
        imported=No("`topic` imports an existing topic"),
    ),
    "AnomalyDetector": Row(
        make=_detector_of,
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=_NO_ROLE,
        tags=["AWS::APS::AnomalyDetector"],
        default_child="AWS::APS::AnomalyDetector",
        tokens=lambda scope, id, world: _detector(scope, id, world.token("Workspace")),
        imported=_NOT_PASSED,
    ),
    "GrafanaContent": Row(
        make=lambda scope, id, world: _content(scope, id),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=No("its function uses its role at deployments only"),
        tags=["AWS::Lambda::Function"],
        default_child=No("it is a custom resource, which the CDK wraps"),
        tokens=lambda scope, id, world: _content(scope, id, world.token("Workspace")),
        imported=_NOT_PASSED,
    ),
    "GrafanaWorkspace": Row(
        make=lambda scope, id, world: observability.GrafanaWorkspace(scope, id, name="llama"),
        connects=No("Amazon Managed Grafana has network interfaces only for its own queries"),
        grants=No("users are assigned in IAM Identity Center or by SAML"),
        principal=True,
        tags=["AWS::IAM::Role"],
        default_child="AWS::Grafana::Workspace",
        tokens=lambda scope, id, world: observability.GrafanaWorkspace(scope, id, name=world.token("Name")),
        imported=Imported(
            make=lambda scope, id: observability.GrafanaWorkspace.from_workspace_attributes(
                scope, id, workspace_id=_GRAFANA_ID
            ),
            interface=observability.IGrafanaWorkspace,
        ),
    ),
    "PrometheusEndpoint": Row(
        make=lambda scope, id, world: observability.PrometheusEndpoint(
            scope, id, vpc=world.vpc, subnet=world.subnet, clients=[world.security_group]
        ),
        connects=Connects(default_port="443"),
        grants=_NO_PERMISSIONS,
        principal=_NO_ROLE,
        tags=["AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"],
        default_child=No("it is an endpoint and its security group"),
        tokens=lambda scope, id, world: observability.PrometheusEndpoint(
            scope, id, vpc=world.vpc, subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("Subnet"))
        ),
        imported=_NOT_PASSED,
    ),
    "PrometheusRules": Row(
        make=lambda scope, id, world: _rules(scope, id, _workspace(scope, f"{id}Workspace")),
        connects=_NO_NETWORK,
        grants=_NO_PERMISSIONS,
        principal=_NO_ROLE,
        tags=["AWS::APS::RuleGroupsNamespace"],
        default_child=No("it is one namespace for each file"),
        tokens=lambda scope, id, world: _rules(
            scope,
            id,
            observability.PrometheusWorkspace.from_workspace_arn(scope, f"{id}Workspace", world.token("Workspace")),
        ),
        imported=_NOT_PASSED,
    ),
    "PrometheusScraper": Row(
        make=lambda scope, id, world: _scraper(scope, id, world),
        connects=No("it opens connections with the security groups that it is given"),
        grants=_NO_PERMISSIONS,
        principal=No("AWS manages its role"),
        tags=["AWS::APS::Scraper"],
        default_child="AWS::APS::Scraper",
        tokens=lambda scope, id, world: _scraper(scope, id, world, world.token("Workspace")),
        imported=_NOT_PASSED,
    ),
    "PrometheusWorkspace": Row(
        alarms=True,
        metrics=True,
        make=lambda scope, id, world: _workspace(scope, id),
        connects=No("it is reached through the endpoint of the service"),
        grants=Grants(methods=("query", "write")),
        principal=True,
        tags=["AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::Logs::LogGroup"],
        default_child="AWS::APS::Workspace",
        tokens=lambda scope, id, world: _workspace(scope, id, world.token("Alias")),
        imported=Imported(make=_imported, interface=observability.IPrometheusWorkspace),
        uses={
            "data source": lambda subject, stack, world: subject.grants.query(
                observability.GrafanaWorkspace(stack, "Grafana", name="llama")
            ),
            "alarm action": lambda subject, stack, world: subject.alarms.add_all(world.topic),
            "publisher of alerts": lambda subject, stack, world: observability.AlertTopic(
                stack, "Alerts"
            ).grants.publish(subject),
        },
    ),
    "SelfHostedGrafana": Row(
        make=_server,
        connects=Connects(default_port="3000"),
        grants=No("IAM permits users to forward a port through Session Manager"),
        principal=True,
        tags=[
            "AWS::AutoScaling::AutoScalingGroup",
            "AWS::EC2::LaunchTemplate",
            "AWS::EC2::SecurityGroup",
            "AWS::IAM::Role",
        ],
        default_child="AWS::AutoScaling::AutoScalingGroup",
        tokens=lambda scope, id, world: _server(scope, id, world, world.token("Workspace")),
        imported=_NOT_PASSED,
    ),
}
