"""Contract of the Slurm and Kubernetes clusters, for stacks, monitoring and `UltraCluster`."""

from ultracluster.orchestration._capacity_notices import capacity_notices
from ultracluster.orchestration._node_resource import NodeResource
from ultracluster.orchestration._orchestrator import Orchestrator, Output
from ultracluster.orchestration._run_command import command_document
from ultracluster.orchestration._scopes import child_scope
from ultracluster.orchestration._warnings import add_warnings

__all__ = [
    "NodeResource",
    "Orchestrator",
    "Output",
    "add_warnings",
    "capacity_notices",
    "child_scope",
    "command_document",
]
