"""The stacks of one cluster, wired."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stacks.cluster_stack import ClusterStack
from stacks.compute_stack import ComputeStack
from stacks.network_stack import NetworkStack
from stacks.storage_stack import StorageStack
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile


class ClusterStage(cdk.Stage):
    """Network, Storage, Cluster and Compute: split by lifetime, and by who may delete them.

    Args:
        cluster: What `clusterfile.load` gives.
        **kwargs: Those of `cdk.Stage`, the environment among them.
    """

    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, **kwargs: Any) -> None:
        super().__init__(scope, id, **kwargs)
        self.network = NetworkStack(self, "Network", cluster=cluster)
        # CloudFormation has no empty stacks.
        wants_storage = cluster.lustre_size is not None or cluster.storage.data_bucket
        self.storage = (
            StorageStack(self, "Storage", cluster=cluster, network=self.network.parts) if wants_storage else None
        )
        storage = self.storage.parts if self.storage else patterns.Storage()
        self.cluster = ClusterStack(self, "Cluster", cluster=cluster, network=self.network.parts, storage=storage)
        self.compute = ComputeStack(
            self,
            "Compute",
            cluster=cluster,
            network=self.network.parts,
            storage=storage,
            pcs=self.cluster.pcs,
        )
        for key, value in cluster.tags.items():
            cdk.Tags.of(self).add(key, value)
