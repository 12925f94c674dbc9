"""Slurm on AWS PCS."""

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
]
