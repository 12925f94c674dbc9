"""Slurm on AWS PCS, and Kubernetes on Amazon EKS."""

from ultracluster.orchestration.eks_add_on import EksAddOn, pod_role
from ultracluster.orchestration.eks_cluster import EksCluster
from ultracluster.orchestration.eks_karpenter import EksKarpenter
from ultracluster.orchestration.eks_node_group import EksNodeGroup
from ultracluster.orchestration.eks_node_role import EksNodeRole
from ultracluster.orchestration.eks_self_managed_node_group import EksSelfManagedNodeGroup
from ultracluster.orchestration.login_ssh import LoginSsh
from ultracluster.orchestration.node_scripts import NodeScripts
from ultracluster.orchestration.node_users import NodeUsers
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.orchestration.pcs_drain import PcsDrain
from ultracluster.orchestration.pcs_login_node_group import PcsLoginNodeGroup
from ultracluster.orchestration.pcs_queue import PcsQueue
from ultracluster.orchestration.slurm_accounts import SlurmAccounts
from ultracluster.orchestration.slurm_options import SlurmOptions

__all__ = [
    "EksAddOn",
    "EksCluster",
    "EksKarpenter",
    "EksNodeGroup",
    "EksNodeRole",
    "EksSelfManagedNodeGroup",
    "LoginSsh",
    "NodeScripts",
    "NodeUsers",
    "PcsCluster",
    "PcsComputeNodeGroup",
    "PcsDrain",
    "PcsLoginNodeGroup",
    "PcsQueue",
    "SlurmAccounts",
    "SlurmOptions",
    "pod_role",
]
