"""The storage: what must not be lost."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stacks.references import hold
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile
from ultracluster.storage.lustre_mount import access_times


class StorageStack(cdk.Stack):
    """Key, file systems and data bucket, under termination protection."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, network: patterns.Network, **kwargs: Any
    ) -> None:
        super().__init__(
            scope,
            id,
            description=f"Storage of the cluster {cluster.name}",
            termination_protection=True,
            **kwargs,
        )
        self.parts = patterns.storage(self, cluster, network)
        lustre = cluster.storage.lustre
        if self.parts.lustre is not None and lustre is not None:
            # Nodes that lose their file system lose their job: other stacks hold on to this one.
            hold(self.parts.lustre)
            cdk.CfnOutput(
                self,
                "FileSystemId",
                value=self.parts.lustre.file_system_id,
                description="FSx for Lustre file system",
            )
            cdk.CfnOutput(
                self,
                "MountCommand",
                value=f"sudo mount -t lustre -o {access_times(self.parts.lustre.relatime)},flock "
                f"{self.parts.lustre.device} {lustre.mount}",
                description="How another machine in the VPC mounts the file system",
            )
        if self.parts.home is not None:
            hold(self.parts.home)
            cdk.CfnOutput(
                self,
                "HomeFileSystemId",
                value=self.parts.home.file_system_id,
                description="FSx for OpenZFS file system of the home directories",
            )
            if cluster.orchestrator == "kubernetes":
                # What a volume of Kubernetes names; Slurm's nodes are told by their template.
                home = self.parts.home
                for output, description, value in (
                    ("HomeVolumeId", "Its volume", home.volume_id),
                    ("HomeDnsName", "Its address", home.dns_name),
                ):
                    cdk.CfnOutput(self, output, description=description, value=value)
        if self.parts.data_bucket is not None:
            cdk.CfnOutput(
                self,
                "DataBucketName",
                value=self.parts.data_bucket.bucket.bucket_name,
                description="Bucket for datasets and checkpoints",
            )
