"""What is measured of a cluster, under which names, and what is wrong when: pure data and text, no AWS CDK."""

from ultracluster.metrics.agent import agent_configuration
from ultracluster.metrics.alert import Alert, Severity
from ultracluster.metrics.alertmanager import Receiver, alertmanager, amp_definition, pagerduty, sns
from ultracluster.metrics.alerts import ALERTS
from ultracluster.metrics.cluster_objects import cluster_objects
from ultracluster.metrics.cluster_volume import KubernetesSource, SlurmSource
from ultracluster.metrics.collectors import RemoteWrite, node_collectors
from ultracluster.metrics.counters import Dcgm, counters
from ultracluster.metrics.fleet_names import EXPECTED_NODES, PROBLEM
from ultracluster.metrics.from_cluster_file import cluster_rules, collector_objects, profile_of
from ultracluster.metrics.metric import GPU, JOB, NODE, Metric, Profile, Source
from ultracluster.metrics.names import FAMILIES, METRICS, OTHERS, metrics
from ultracluster.metrics.objects import kube_state_metrics_arguments, node_objects, shared_objects
from ultracluster.metrics.rules import rules
from ultracluster.metrics.scraping import kubernetes_scraping, slurm_scraping
from ultracluster.metrics.volume import Volume, volume

__all__ = [
    "ALERTS",
    "EXPECTED_NODES",
    "FAMILIES",
    "GPU",
    "JOB",
    "METRICS",
    "NODE",
    "OTHERS",
    "PROBLEM",
    "Alert",
    "Dcgm",
    "KubernetesSource",
    "Metric",
    "Profile",
    "Receiver",
    "RemoteWrite",
    "Severity",
    "SlurmSource",
    "Source",
    "Volume",
    "agent_configuration",
    "alertmanager",
    "amp_definition",
    "cluster_objects",
    "cluster_rules",
    "collector_objects",
    "counters",
    "kube_state_metrics_arguments",
    "kubernetes_scraping",
    "metrics",
    "node_collectors",
    "node_objects",
    "pagerduty",
    "profile_of",
    "rules",
    "shared_objects",
    "slurm_scraping",
    "sns",
    "volume",
]
