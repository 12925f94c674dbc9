"""The control plane."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.stacks._orchestrators import create_orchestrator
from ultracluster.stacks._outputs import write_outputs
from ultracluster.stacks._references import hold
from ultracluster.storage import Storage


class ClusterStack(cdk.Stack):
    """Control plane, roles of its nodes, and what must exist before a node."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage, **kwargs: Any
    ) -> None:
        super().__init__(scope, id, description=f"Control plane of the cluster {cluster.name}", **kwargs)
        # `Default` adds nothing to logical ids.
        self.orchestrator = create_orchestrator(self, "Default", cluster=cluster, network=network, storage=storage)
        # Node groups belong to this control plane, which must outlive them.
        hold(self)
        write_outputs(self, self.orchestrator.outputs)
