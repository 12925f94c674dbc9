"""The storage: what must not be lost."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.stacks._outputs import storage_outputs, write_outputs
from ultracluster.stacks._references import hold
from ultracluster.storage import Storage


class StorageStack(cdk.Stack):
    """Key, file systems and data bucket, under termination protection."""

    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, **kwargs: Any) -> None:
        description = f"Storage of the cluster {cluster.name}"
        super().__init__(scope, id, description=description, termination_protection=True, **kwargs)
        self.storage = Storage.from_cluster_file(self, cluster, network=network)
        # Nodes that lose their file system lose their job.
        for file_system in filter(None, (self.storage.lustre, self.storage.home)):
            hold(file_system)
        write_outputs(self, storage_outputs(self.storage))
        if not any(cdk.CfnResource.is_cfn_resource(child) for child in self.node.find_all()):
            # CloudFormation has no empty stacks, and an existing bucket creates no resource.
            cdk.CfnWaitConditionHandle(self, "NoResources")
