"""Amazon Managed Service for Prometheus, Grafana with its content, alerts and alarms."""

from ultracluster.observability._alert_topic import AlertTopic, AlertTopicGrants
from ultracluster.observability._anomaly_detector import AnomalyDetector
from ultracluster.observability._cloudwatch_access import CloudWatchGrants
from ultracluster.observability._grafana_provisioning import GrafanaContent
from ultracluster.observability._grafana_workspace import GrafanaWorkspace, IGrafanaWorkspace, Saml
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._observability import Observability
from ultracluster.observability._prometheus_endpoint import PrometheusEndpoint
from ultracluster.observability._prometheus_grants import PrometheusGrants
from ultracluster.observability._prometheus_metrics import PrometheusMetrics
from ultracluster.observability._prometheus_rules import PrometheusRules
from ultracluster.observability._prometheus_workspace import PrometheusWorkspace, query_url
from ultracluster.observability._scraper import PrometheusScraper
from ultracluster.observability._self_hosted_grafana import SelfHostedGrafana
from ultracluster.observability._topology_access import allow_topology

__all__ = [
    "AlertTopic",
    "AlertTopicGrants",
    "AnomalyDetector",
    "CloudWatchGrants",
    "GrafanaContent",
    "GrafanaWorkspace",
    "IGrafanaWorkspace",
    "IPrometheusWorkspace",
    "Observability",
    "PrometheusEndpoint",
    "PrometheusGrants",
    "PrometheusMetrics",
    "PrometheusRules",
    "PrometheusScraper",
    "PrometheusWorkspace",
    "Saml",
    "SelfHostedGrafana",
    "allow_topology",
    "query_url",
]
