"""Programs and configuration that collect metrics on nodes and clusters."""

from ultracluster.monitoring.collectors._agent import INTERVAL_S, JOB_LABELS, SLURM_PAGES
from ultracluster.monitoring.collectors._counters import Dcgm, fields
from ultracluster.monitoring.collectors._kubernetes import NAMESPACE, SERVICE_ACCOUNT, node_objects, shared_objects
from ultracluster.monitoring.collectors._kubernetes_cluster import cluster_objects
from ultracluster.monitoring.collectors._node import RemoteWrite, node_collectors
from ultracluster.monitoring.collectors._scraping import kubernetes_scraping, slurm_scraping
from ultracluster.monitoring.collectors._text import RenderedYaml, block_yaml, name_problems

__all__ = [
    "INTERVAL_S",
    "JOB_LABELS",
    "NAMESPACE",
    "SERVICE_ACCOUNT",
    "SLURM_PAGES",
    "Dcgm",
    "RemoteWrite",
    "RenderedYaml",
    "block_yaml",
    "cluster_objects",
    "fields",
    "kubernetes_scraping",
    "name_problems",
    "node_collectors",
    "node_objects",
    "shared_objects",
    "slurm_scraping",
]
