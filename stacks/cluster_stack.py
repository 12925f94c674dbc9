"""The control plane."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stacks.references import hold
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile


class ClusterStack(cdk.Stack):
    """The Slurm controller and the role of its nodes."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: patterns.Network,
        storage: patterns.Storage,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Control plane of the cluster {cluster.name}", **kwargs)
        self.pcs = patterns.control_plane(self, cluster, network, storage)
        # Node groups belong to this controller: it must not go before them.
        hold(self.pcs)
        cdk.CfnOutput(self, "ClusterId", value=self.pcs.cluster_id, description="AWS PCS cluster")
