"""Every construct of `observability` in one stack, composed by hand."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from ultracluster import observability

RULES = """groups:
  - name: alerts
    interval: 30s
    rules:
      - alert: Watchdog
        expr: vector(1)
"""
ALERT_MANAGER = "alertmanager_config: |\n  route: {receiver: nobody}\n  receivers: [{name: nobody}]\n"
DASHBOARD = """{"uid": "fleet", "title": "Fleet", "templating": {"list": [
 {"type": "datasource", "name": "datasource", "query": "prometheus"}]},
 "panels": [{"type": "stat", "datasource": {"type": "prometheus", "uid": "${datasource}"}}]}"""
DASHBOARDS = {"fleet": DASHBOARD}


class ObservabilityParts(cdk.Stack):
    """All of them, each as an own one and, where that exists, as one that is handed in."""

    def __init__(self, app: cdk.App, id: str = "Parts") -> None:
        super().__init__(app, id, env=cdk.Environment(account="123456789012", region="us-east-2"))
        vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id="vpc-0123456789abcdef0",
            availability_zones=["us-east-2a", "us-east-2b"],
            private_subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        )
        nodes = ec2.SecurityGroup(self, "Nodes", vpc=vpc, allow_all_outbound=False)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
        key = kms.Key(self, "Key", enable_key_rotation=True)
        self.topic = observability.AlertTopic(self, "Alerts", email="oncall@example.com")
        self.workspace = observability.PrometheusWorkspace(
            self,
            "Prometheus",
            alias="llama",
            rules={"alerts.yaml": RULES},
            alert_manager=ALERT_MANAGER,
            retention_days=90,
            series_limits={"llama": 100_000},
            key=key,
        )
        self.topic.grants.publish(self.workspace)
        self.workspace.grants.write(self.role)
        self.workspace.alarms.add_all(self.topic.topic)
        observability.AnomalyDetector(
            self,
            "Unusual",
            alias="power",
            workspace=self.workspace,
            query="cluster:ultracluster_gpu_power_watts:sum",
        )
        private = vpc.private_subnets
        observability.PrometheusEndpoint(self, "Endpoint", vpc=vpc, subnet=private[0], clients=[nodes])
        observability.PrometheusScraper(
            self,
            "Scraper",
            alias="controller",
            workspace=self.workspace,
            configuration="scrape_configs: []\n",
            subnets=private,
            security_groups=[nodes],
        )
        self.grafana = observability.GrafanaWorkspace(
            self, "Grafana", name="llama", subnets=private, security_groups=[nodes]
        )
        self.workspace.grants.query(self.grafana)
        observability.GrafanaContent(
            self,
            "Content",
            name="llama",
            grafana=self.grafana,
            workspace=self.workspace,
            dashboards=DASHBOARDS,
            cloudwatch_region="us-east-2",
        )
        observability.CloudWatchGrants.read(self.grafana)
        self.self_hosted = observability.SelfHostedGrafana(
            self,
            "SelfHosted",
            name="llama",
            vpc=vpc,
            subnet=private[0],
            workspace=self.workspace,
            dashboards=DASHBOARDS,
            cloudwatch_region="us-east-2",
        )
        observability.CloudWatchGrants.read(self.self_hosted)
        self.workspace.grants.query(self.self_hosted)
