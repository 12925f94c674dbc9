"""Slurm on AWS PCS."""

from ultracluster.orchestration.node_scripts import NodeScripts
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.orchestration.pcs_drain import PcsDrain
from ultracluster.orchestration.pcs_login_node_group import PcsLoginNodeGroup
from ultracluster.orchestration.pcs_queue import PcsQueue

__all__ = ["NodeScripts", "PcsCluster", "PcsComputeNodeGroup", "PcsDrain", "PcsLoginNodeGroup", "PcsQueue"]
