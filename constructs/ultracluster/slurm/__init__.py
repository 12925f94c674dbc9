"""Slurm on AWS PCS."""

from ultracluster.slurm._accounts import SlurmAccounts as SlurmAccounts
from ultracluster.slurm._administrator_policy import PcsAdministratorPolicy as PcsAdministratorPolicy
from ultracluster.slurm._from_cluster_file import log_settings as log_settings
from ultracluster.slurm._interfaces import IPcsCluster as IPcsCluster
from ultracluster.slurm._interfaces import IPcsComputeNodeGroup as IPcsComputeNodeGroup
from ultracluster.slurm._job_files import job_files as job_files
from ultracluster.slurm._job_files import jobs_directory as jobs_directory
from ultracluster.slurm._login_ssh import LoginSsh as LoginSsh
from ultracluster.slurm._metrics import remote_write_parameter as remote_write_parameter
from ultracluster.slurm._metrics import slurm_collectors as slurm_collectors
from ultracluster.slurm._node_archive import publish_archive as publish_archive
from ultracluster.slurm._node_health import health_mode as health_mode
from ultracluster.slurm._node_images import NodeImages as NodeImages
from ultracluster.slurm._node_users import NodeUsers as NodeUsers
from ultracluster.slurm._options import SlurmOptions as SlurmOptions
from ultracluster.slurm._pcs_cluster import PcsCluster as PcsCluster
from ultracluster.slurm._pcs_cluster_logs import PcsClusterLogs as PcsClusterLogs
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup as PcsComputeNodeGroup
from ultracluster.slurm._pcs_drain import PcsDrain as PcsDrain
from ultracluster.slurm._pcs_login_node_group import PcsLoginNodeGroup as PcsLoginNodeGroup
from ultracluster.slurm._pcs_node_logs import PcsNodeLogs as PcsNodeLogs
from ultracluster.slurm._pcs_node_logs import node_log_group as node_log_group
from ultracluster.slurm._pcs_node_role import PcsNodeRole as PcsNodeRole
from ultracluster.slurm._pcs_queue import PcsQueue as PcsQueue
from ultracluster.slurm._slurm_cluster import SlurmCluster as SlurmCluster
from ultracluster.slurm._user_policy import PcsUserPolicy as PcsUserPolicy
