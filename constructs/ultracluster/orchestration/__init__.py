"""Contract of the Slurm and Kubernetes clusters, for stacks, monitoring and `UltraCluster`."""

from ultracluster.orchestration._node_resource import NodeResource as NodeResource
from ultracluster.orchestration._notices_of_file import capacity_notices as capacity_notices
from ultracluster.orchestration._orchestrator import INodeGroup as INodeGroup
from ultracluster.orchestration._orchestrator import Orchestrator as Orchestrator
from ultracluster.orchestration._orchestrator import Output as Output
from ultracluster.orchestration._run_command import HANDLE_PARAMETER as HANDLE_PARAMETER
from ultracluster.orchestration._run_command import command_document as command_document
from ultracluster.orchestration._run_command import wait_condition as wait_condition
from ultracluster.orchestration._scopes import child_scope as child_scope
from ultracluster.orchestration._unique_names import claim_name as claim_name
from ultracluster.orchestration._warnings import add_warnings as add_warnings
