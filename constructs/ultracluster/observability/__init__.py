"""Amazon Managed Service for Prometheus, Grafana with its content, alerts and alarms."""

from ultracluster.observability.alert_topic import AlertTopic
from ultracluster.observability.anomaly_detector import AnomalyDetector
from ultracluster.observability.cloudwatch_access import grant_cloudwatch
from ultracluster.observability.grafana_provisioning import GrafanaContent
from ultracluster.observability.grafana_workspace import GrafanaWorkspace, Saml
from ultracluster.observability.prometheus_alarms import PrometheusAlarms
from ultracluster.observability.prometheus_endpoint import PrometheusEndpoint
from ultracluster.observability.prometheus_workspace import ExistingPrometheusWorkspace, PrometheusWorkspace
from ultracluster.observability.scraper import PrometheusScraper
from ultracluster.observability.self_hosted_grafana import SelfHostedGrafana

__all__ = [
    "AlertTopic",
    "AnomalyDetector",
    "ExistingPrometheusWorkspace",
    "GrafanaContent",
    "GrafanaWorkspace",
    "PrometheusAlarms",
    "PrometheusEndpoint",
    "PrometheusScraper",
    "PrometheusWorkspace",
    "Saml",
    "SelfHostedGrafana",
    "grant_cloudwatch",
]
