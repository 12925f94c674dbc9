"""The nodes: change weekly."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import Orchestrator
from ultracluster.stacks._outputs import write_outputs


class ComputeStack(cdk.Stack):
    """Launch templates, node groups, and what runs on them or hands them out."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, orchestrator: Orchestrator, **kwargs: Any
    ) -> None:
        super().__init__(scope, id, description=f"Nodes of the cluster {cluster.name}", **kwargs)
        orchestrator.add_node_groups(self)
        write_outputs(self, orchestrator.node_outputs)
