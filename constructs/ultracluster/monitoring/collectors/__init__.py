"""Programs and configuration that collect metrics on nodes and clusters."""

from ultracluster.monitoring.collectors._agent import INTERVAL_S as INTERVAL_S
from ultracluster.monitoring.collectors._agent import JOB_LABELS as JOB_LABELS
from ultracluster.monitoring.collectors._agent import SLURM_PAGES as SLURM_PAGES
from ultracluster.monitoring.collectors._counters import Dcgm as Dcgm
from ultracluster.monitoring.collectors._counters import fields as fields
from ultracluster.monitoring.collectors._kubernetes import NAMESPACE as NAMESPACE
from ultracluster.monitoring.collectors._kubernetes import SERVICE_ACCOUNT as SERVICE_ACCOUNT
from ultracluster.monitoring.collectors._kubernetes import node_objects as node_objects
from ultracluster.monitoring.collectors._kubernetes import shared_objects as shared_objects
from ultracluster.monitoring.collectors._kubernetes_cluster import cluster_objects as cluster_objects
from ultracluster.monitoring.collectors._node import RemoteWrite as RemoteWrite
from ultracluster.monitoring.collectors._node import node_collectors as node_collectors
from ultracluster.monitoring.collectors._scraping import kubernetes_scraping as kubernetes_scraping
from ultracluster.monitoring.collectors._scraping import slurm_scraping as slurm_scraping
from ultracluster.monitoring.collectors._text import RenderedYaml as RenderedYaml
from ultracluster.monitoring.collectors._text import block_yaml as block_yaml
from ultracluster.monitoring.collectors._text import name_problems as name_problems
