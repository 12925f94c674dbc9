"""Slurm on AWS PCS."""

from ultracluster.slurm._accounts import SlurmAccounts
from ultracluster.slurm._administrator_policy import PcsAdministratorPolicy
from ultracluster.slurm._from_cluster_file import log_settings
from ultracluster.slurm._interfaces import IPcsCluster, IPcsComputeNodeGroup
from ultracluster.slurm._job_files import job_files, jobs_directory
from ultracluster.slurm._login_ssh import LoginSsh
from ultracluster.slurm._metrics import remote_write_parameter, slurm_collectors
from ultracluster.slurm._node_archive import publish_archive
from ultracluster.slurm._node_health import health_mode
from ultracluster.slurm._node_images import NodeImages
from ultracluster.slurm._node_role import PcsNodeRole
from ultracluster.slurm._node_users import NodeUsers
from ultracluster.slurm._options import SlurmOptions
from ultracluster.slurm._pcs_cluster import PcsCluster
from ultracluster.slurm._pcs_cluster_logs import PcsClusterLogs
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._pcs_drain import PcsDrain
from ultracluster.slurm._pcs_login_node_group import PcsLoginNodeGroup
from ultracluster.slurm._pcs_node_logs import PcsNodeLogs, node_log_group
from ultracluster.slurm._pcs_queue import PcsQueue
from ultracluster.slurm._slurm_cluster import SlurmCluster
from ultracluster.slurm._user_policy import PcsUserPolicy

__all__ = [
    "IPcsCluster",
    "IPcsComputeNodeGroup",
    "LoginSsh",
    "NodeImages",
    "NodeUsers",
    "PcsAdministratorPolicy",
    "PcsCluster",
    "PcsClusterLogs",
    "PcsComputeNodeGroup",
    "PcsDrain",
    "PcsLoginNodeGroup",
    "PcsNodeLogs",
    "PcsNodeRole",
    "PcsQueue",
    "PcsUserPolicy",
    "SlurmAccounts",
    "SlurmCluster",
    "SlurmOptions",
    "health_mode",
    "job_files",
    "jobs_directory",
    "log_settings",
    "node_log_group",
    "publish_archive",
    "remote_write_parameter",
    "slurm_collectors",
]
