"""Kubernetes on Amazon EKS: control plane, node groups, add-ons, and the host that installs `kubernetes` on it."""

from ultracluster.eks._add_on import EksAddOn as EksAddOn
from ultracluster.eks._add_on import pod_role as pod_role
from ultracluster.eks._admin_host import EksAdminHost as EksAdminHost
from ultracluster.eks._boot import node_labels as node_labels
from ultracluster.eks._cluster import EksCluster as EksCluster
from ultracluster.eks._eks_node_role import EksNodeRole as EksNodeRole
from ultracluster.eks._interfaces import IEksCluster as IEksCluster
from ultracluster.eks._interfaces import IEksNodeGroup as IEksNodeGroup
from ultracluster.eks._karpenter import EksKarpenter as EksKarpenter
from ultracluster.eks._kubernetes_cluster import KubernetesCluster as KubernetesCluster
from ultracluster.eks._kubernetes_platform import KubernetesPlatform as KubernetesPlatform
from ultracluster.eks._kubernetes_platform import admin_host as admin_host
from ultracluster.eks._kubernetes_platform import platform_content as platform_content
from ultracluster.eks._node_group import EksNodeGroup as EksNodeGroup
from ultracluster.eks._platform import EksPlatform as EksPlatform
from ultracluster.eks._scheduled_size import EksScheduledStart as EksScheduledStart
from ultracluster.eks._scheduled_size import EksScheduledStop as EksScheduledStop
from ultracluster.eks._self_managed_node_group import EksSelfManagedNodeGroup as EksSelfManagedNodeGroup
