"""The storage of a cluster, from its file."""

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import Mount
from ultracluster.patterns.network_part import Network
from ultracluster.storage import DataBucket, LustreFileSystem
from ultracluster.storage.lustre_file_system import MOUNT_OPTIONS


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Where the data lives. None: the cluster file asks for none."""

    lustre: LustreFileSystem | None = None
    #: Where nodes mount it.
    lustre_path: str | None = None
    data_bucket: DataBucket | None = None

    @property
    def mounts(self) -> list[Mount]:
        """What every node mounts."""
        if self.lustre is None or self.lustre_path is None:
            return []
        return [Mount(device=self.lustre.device, path=self.lustre_path, type="lustre", options=MOUNT_OPTIONS)]


def storage(scope: Construct, cluster: ClusterFile, network: Network) -> Storage:
    """The key, the file system and the data bucket."""
    lustre = None
    if cluster.lustre_size is None and not cluster.storage.data_bucket:
        return Storage()
    key = _key(scope, cluster)
    if cluster.lustre_size is not None:
        lustre = LustreFileSystem(
            scope,
            "Lustre",
            vpc=network.vpc,
            subnet=network.training_subnet,
            size=cluster.lustre_size,
            key=key,
        )
        lustre.allow_clients(network.nodes)
    return Storage(
        lustre=lustre,
        lustre_path=cluster.storage.lustre.mount if cluster.storage.lustre else None,
        data_bucket=DataBucket(scope, "Data", key=key) if cluster.storage.data_bucket else None,
    )


def _key(scope: Construct, cluster: ClusterFile) -> kms.IKey:
    if cluster.encryption_key is not None:
        return kms.Key.from_key_arn(scope, "Key", cluster.encryption_key)
    return kms.Key(
        scope,
        "Key",
        description=f"File system and data of the cluster {cluster.name}",
        enable_key_rotation=True,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
