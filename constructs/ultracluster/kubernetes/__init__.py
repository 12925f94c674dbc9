"""Kubernetes objects and Helm releases of an EKS cluster, as plain data."""

from ultracluster.kubernetes._files import cluster_files
from ultracluster.kubernetes._from_cluster_file import NOT_DEPLOYED, file_problems, platform_of
from ultracluster.kubernetes._health_access import ACCOUNT
from ultracluster.kubernetes._kueue import QUEUE
from ultracluster.kubernetes._monitoring import node_monitoring_values
from ultracluster.kubernetes._names import check_job
from ultracluster.kubernetes._network_policies import job_policy
from ultracluster.kubernetes._nodes import ROOT_DEVICES, PlatformNodes, device_labels
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import HEALTH, DynamicVolumes, KarpenterNodes, Platform
from ultracluster.kubernetes._pods import near, node_pod, pod_resources
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.kubernetes._rendering import platform
from ultracluster.kubernetes._runtimes import runtime_name
from ultracluster.kubernetes._teams import Team, shares
from ultracluster.kubernetes._yaml_text import to_yaml

__all__ = [
    "ACCOUNT",
    "HEALTH",
    "NOT_DEPLOYED",
    "QUEUE",
    "ROOT_DEVICES",
    "DynamicVolumes",
    "HelmRelease",
    "KarpenterNodes",
    "Object",
    "Platform",
    "PlatformNodes",
    "Team",
    "check_job",
    "cluster_files",
    "device_labels",
    "file_problems",
    "job_policy",
    "make",
    "near",
    "node_monitoring_values",
    "node_pod",
    "platform",
    "platform_of",
    "pod_resources",
    "runtime_name",
    "shares",
    "to_yaml",
]
