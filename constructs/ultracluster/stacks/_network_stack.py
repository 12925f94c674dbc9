"""The network: rarely changes."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.stacks._outputs import network_outputs, write_outputs
from ultracluster.stacks._references import hold


class NetworkStack(cdk.Stack):
    """VPC, training subnet and the security group of the nodes."""

    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, **kwargs: Any) -> None:
        super().__init__(scope, id, description=f"Network of the cluster {cluster.name}", **kwargs)
        self.network = Network.from_cluster_file(self, cluster)
        # Nodes that lose their subnet or their security group lose each other.
        hold(self)
        write_outputs(self, network_outputs(self.network))
