"""The storage of a cluster, from its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.patterns.links_part import acknowledge, links
from ultracluster.patterns.network_part import Network
from ultracluster.planning import Mount, Mountable
from ultracluster.storage import (
    EXISTING_BUCKET,
    EXISTING_LUSTRE,
    DataBucket,
    ExistingBucket,
    ExistingLustre,
    LustreFileSystem,
    OpenZfsHome,
)


@dataclass(frozen=True, kw_only=True)
class Storage:
    """Where the data lives. None: the cluster file asks for none."""

    lustre: LustreFileSystem | ExistingLustre | None = None
    data_bucket: DataBucket | ExistingBucket | None = None
    home: OpenZfsHome | None = None
    #: What every node mounts, by path.
    file_systems: Mapping[str, Mountable] = field(default_factory=dict)

    @property
    def mounts(self) -> list[Mount]:
        """What every node mounts."""
        return [file_system.mount(path) for path, file_system in self.file_systems.items()]


def storage(scope: Construct, cluster: ClusterFile, network: Network) -> Storage:
    """The key, the file systems and the data bucket."""
    wish, home_wish = cluster.storage.lustre, cluster.storage.home
    if wish is None and home_wish is None and not cluster.storage.data_bucket:
        return Storage()
    made = cluster.lustre_spec or home_wish or cluster.storage.data_bucket is True
    key = _key(scope, cluster) if made else None
    lustre = _lustre(scope, cluster, network, key)
    data_bucket = _data_bucket(scope, cluster, key)
    if lustre is not None:
        links(scope, cluster, lustre, data_bucket)
    home = _home(scope, cluster, network, key)
    file_systems: dict[str, Mountable] = {wish.mount: lustre} if wish and lustre else {}
    if home_wish and home:
        file_systems[home_wish.mount] = home
    return Storage(
        lustre=lustre,
        data_bucket=data_bucket,
        home=home,
        file_systems=file_systems,
    )


def _lustre(
    scope: Construct, cluster: ClusterFile, network: Network, key: kms.IKey | None
) -> LustreFileSystem | ExistingLustre | None:
    wish, spec = cluster.storage.lustre, cluster.lustre_spec
    if wish is None:
        return None
    lustre: LustreFileSystem | ExistingLustre
    if wish.existing is not None:
        existing = wish.existing
        lustre = ExistingLustre(
            scope,
            "Lustre",
            file_system_id=existing.id,
            mount_name=existing.mount_name,
            efa=existing.efa,
            zone=existing.zone,
            cidr=None if existing.cidr is None else str(existing.cidr),
            relatime=wish.release is not None,
            security_group=None
            if existing.security_group is None
            else ec2.SecurityGroup.from_security_group_id(scope, "LustreGroup", existing.security_group),
        )
        lustre.allow_clients(network.nodes)
        acknowledge(lustre, cluster, [EXISTING_LUSTRE])
    else:
        assert spec is not None
        lustre = LustreFileSystem(
            scope,
            "Lustre",
            vpc=network.vpc,
            subnet=network.training_subnet,
            spec=spec,
            key=key,
            maintenance=wish.maintenance,
            relatime=wish.release is not None,
            backup_days=None if wish.backups is None else wish.backups.seconds // 86_400,
        )
        # Nodes elsewhere mount it over TCP.
        lustre.allow_clients(network.nodes, subnets=[network.training_subnet])
    return lustre


def _data_bucket(scope: Construct, cluster: ClusterFile, key: kms.IKey | None) -> DataBucket | ExistingBucket | None:
    wish = cluster.storage.existing_bucket
    if wish is None:
        return DataBucket(scope, "Data", key=key) if cluster.storage.data_bucket else None
    bucket = ExistingBucket(
        scope,
        "Data",
        bucket_name=wish.name,
        key=None if wish.key is None else kms.Key.from_key_arn(scope, "DataKey", wish.key),
    )
    acknowledge(bucket, cluster, [EXISTING_BUCKET])
    return bucket


def _home(scope: Construct, cluster: ClusterFile, network: Network, key: kms.IKey | None) -> OpenZfsHome | None:
    wish, size = cluster.storage.home, cluster.home_size
    if wish is None or size is None:
        return None
    home = OpenZfsHome(
        scope,
        "Home",
        vpc=network.vpc,
        # A Local Zone sells no OpenZFS; elsewhere this is the zone of the nodes.
        subnet=network.services_subnet,
        size=size,
        client_ranges=[str(one) for one in cluster.home_clients],
        key=key,
        backup_days=wish.backups.seconds // 86_400,
    )
    home.allow_clients(network.nodes)
    return home


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
