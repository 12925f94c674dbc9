"""Kubernetes on Amazon EKS."""

from ultracluster.eks._add_on import EksAddOn, pod_role
from ultracluster.eks._admin_host import EksAdminHost
from ultracluster.eks._boot import node_labels
from ultracluster.eks._cluster import EksCluster
from ultracluster.eks._interfaces import IEksCluster, IEksNodeGroup
from ultracluster.eks._karpenter import EksKarpenter
from ultracluster.eks._kubernetes_cluster import KubernetesCluster
from ultracluster.eks._kubernetes_platform import KubernetesPlatform, admin_host, platform_content
from ultracluster.eks._node_group import EksNodeGroup
from ultracluster.eks._node_role import EksNodeRole
from ultracluster.eks._platform import EksPlatform
from ultracluster.eks._scheduled_start import EksScheduledStart
from ultracluster.eks._self_managed_node_group import EksSelfManagedNodeGroup

__all__ = [
    "EksAddOn",
    "EksAdminHost",
    "EksCluster",
    "EksKarpenter",
    "EksNodeGroup",
    "EksNodeRole",
    "EksPlatform",
    "EksScheduledStart",
    "EksSelfManagedNodeGroup",
    "IEksCluster",
    "IEksNodeGroup",
    "KubernetesCluster",
    "KubernetesPlatform",
    "admin_host",
    "node_labels",
    "platform_content",
    "pod_role",
]
