"""What stands on an EKS cluster beside the cluster itself: Helm releases, and objects as plain dictionaries."""

from ultracluster.kubernetes.from_cluster_file import file_problems, platform_of
from ultracluster.kubernetes.monitoring import node_monitoring_values
from ultracluster.kubernetes.nodes import EfaWay, Os, PlatformNodes
from ultracluster.kubernetes.objects import Object
from ultracluster.kubernetes.platform import GpuWay, KarpenterNodes, Platform, Scheduler
from ultracluster.kubernetes.release import HelmRelease, Manifest
from ultracluster.kubernetes.rendering import Rendered, platform
from ultracluster.kubernetes.teams import Team

__all__ = [
    "EfaWay",
    "GpuWay",
    "HelmRelease",
    "KarpenterNodes",
    "Manifest",
    "Object",
    "Os",
    "Platform",
    "PlatformNodes",
    "Rendered",
    "Scheduler",
    "Team",
    "file_problems",
    "node_monitoring_values",
    "platform",
    "platform_of",
]
