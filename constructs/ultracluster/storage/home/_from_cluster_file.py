"""The home directories of a cluster file."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.planning.home import HOME_CLIENTS, HOME_PREFIX
from ultracluster.rules import Refusal
from ultracluster.storage._interfaces import IDataBucket, ISharedFileSystem
from ultracluster.storage.home._efs_home import EfsHome
from ultracluster.storage.home._nfs_home import NfsHome
from ultracluster.storage.home._openzfs_home import OpenZfsHome
from ultracluster.storage.home._s3_files_home import S3FilesHome


def home(
    scope: Construct, cluster: ClusterFile, network: Network, key: kms.IKey | None, bucket: IDataBucket | None
) -> ISharedFileSystem | None:
    """Create or import the home directories of a cluster file, and allow the nodes to mount them.

    Args:
        scope: Scope of the storage.
        cluster: Cluster file.
        network: Network of the nodes.
        key: Key of new file systems.
        bucket: Data bucket, which S3 Files shows.
    """
    section = cluster.storage.home
    if section is None:
        return None
    if section.existing:
        existing = _imported(scope, cluster)
        existing.allow_clients(network.nodes)
        return existing
    created = _created(scope, cluster, network, key, bucket)
    created.allow_clients(network.nodes, scope=created)
    return created


def _created(
    scope: Construct, cluster: ClusterFile, network: Network, key: kms.IKey | None, bucket: IDataBucket | None
) -> EfsHome | OpenZfsHome | S3FilesHome:
    section, size = cluster.storage.home, cluster.home_size
    assert section is not None
    if section.type == "efs":
        return EfsHome(scope, "Home", vpc=network.vpc, subnets=_mount_subnets(cluster, network), key=key)
    if section.type == "s3-files":
        assert bucket is not None
        existing = cluster.storage.existing_bucket
        given = kms.Key.from_key_arn(scope, "HomeBucketKey", existing.key) if existing and existing.key else None
        return S3FilesHome(
            scope,
            "Home",
            vpc=network.vpc,
            subnets=_mount_subnets(cluster, network),
            bucket=bucket,
            prefix=HOME_PREFIX,
            bucket_key=given if existing else key,
            key=key,
        )
    assert size is not None
    return OpenZfsHome(
        scope,
        "Home",
        vpc=network.vpc,
        # OpenZFS is not available in Local Zones; elsewhere this is the zone of the nodes.
        subnet=network.services_subnet,
        size=size,
        client_ranges=_clients(scope, section.clients, network),
        key=key,
        backup_days=section.backups.seconds // 86_400,
    )


def _clients(scope: Construct, ranges: Sequence[IPv4Network] | None, network: Network) -> list[str]:
    """Return the ranges of addresses that may mount it: those of the file, or that of the VPC."""
    if ranges is not None:
        return [str(clients) for clients in ranges]
    if network.cidr is None:
        raise Refusal(
            scope,
            HOME_CLIENTS(
                "network.vpc must have a known address range, whose clients may mount the home file system: import the "
                "VPC with ec2.Vpc.from_vpc_attributes(..., vpc_cidr_block='...')"
            ),
        )
    return [network.cidr]


def _imported(scope: Construct, cluster: ClusterFile) -> ISharedFileSystem:
    section = cluster.storage.home
    assert section is not None
    existing = section.existing
    assert existing is not None
    group = (
        ec2.SecurityGroup.from_security_group_id(scope, "HomeGroup", existing.security_group)
        if existing.security_group
        else None
    )
    if section.type == "nfs":
        assert existing.server is not None
        assert existing.path is not None
        return NfsHome(scope, "Home", server=existing.server, path=existing.path, security_group=group)
    assert existing.id is not None
    if section.type == "efs":
        return EfsHome.from_efs_home_attributes(scope, "Home", file_system_id=existing.id, security_group=group)
    assert existing.volume is not None
    return OpenZfsHome.from_open_zfs_home_attributes(
        scope,
        "Home",
        file_system_id=existing.id,
        volume_id=existing.volume,
        volume_path=existing.path or "/fsx",
        security_group=group,
    )


def _mount_subnets(cluster: ClusterFile, network: Network) -> list[ec2.ISubnet]:
    """Return a subnet of each zone with nodes: a zone has one mount target."""
    subnets: Mapping[str, ec2.ISubnet] = {
        **network.zone_subnets,
        cluster.zone: network.training_subnet,
        cluster.control_plane_zone: network.services_subnet,
    }
    return [subnets[zone] for zone in sorted(subnets)]
