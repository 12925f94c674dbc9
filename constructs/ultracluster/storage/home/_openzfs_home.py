"""A home file system of FSx for OpenZFS."""

import re
from collections.abc import Sequence
from ipaddress import ip_network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.boot import Mount, Volume, openzfs_mount, openzfs_volume
from ultracluster.catalogue.storage import openzfs
from ultracluster.network import check_same_vpc
from ultracluster.planning import as_list, checked, id_problem, known
from ultracluster.planning.home import HOME_BACKUPS, HOME_CLIENTS, HOME_SOLD, OpenZfsSize
from ultracluster.rules import Message, Refusal, error
from ultracluster.security import check_same_region
from ultracluster.storage._interfaces import ISharedFileSystem
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.home._home import warn_of_import
from ultracluster.storage.home._metrics import OpenZfsMetrics

_VOLUME = "home"
# The root volume is always /fsx. https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/getting-started.html
# (read 2026-11-21)
_VOLUME_PATH = f"/fsx/{_VOLUME}"
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSVolumeConfiguration.html (read 2026-11-22)
_VOLUME_PATHS = re.compile(r"/fsx(/[A-Za-z0-9_.:/-]*)?", re.ASCII)
# crossmnt shows the snapshots. no_root_squash: root of a node creates directories and changes their owners.
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/creating-volumes.html (read 2026-11-21)
_EXPORT_OPTIONS = ["rw", "crossmnt", "no_root_squash"]
# A client that may mount a volume may mount all volumes below it (same page), so no client may mount the root volume:
# no client has this address.
_NO_CLIENT = "127.0.0.1"

_PATH = error("home-volume-path", "The path of a volume of FSx for OpenZFS begins with /fsx.")


class _OpenZfs(SharedFileSystem):
    """A volume of a file system of FSx for OpenZFS."""

    #: Id of the volume, such as `fsvol-0123456789abcdef0`; snapshots are taken of it.
    volume_id: str
    #: DNS name of the server.
    dns_name: str
    #: CloudWatch metrics.
    metrics: OpenZfsMetrics
    _volume_path: str
    _transfer_bytes: int

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node: AL2023 has the NFS client, Ubuntu has it in the package nfs-common."""
        return openzfs_mount(
            dns_name=self.dns_name, volume_path=self._volume_path, path=path, transfer_bytes=self._transfer_bytes
        )

    def volume(self, name: str) -> Volume:
        """Return the volume of Kubernetes, with the CSI driver for OpenZFS."""
        return openzfs_volume(
            name=name,
            volume_id=self.volume_id,
            dns_name=self.dns_name,
            volume_path=self._volume_path,
            transfer_bytes=self._transfer_bytes,
        )


class OpenZfsHome(_OpenZfs):
    """A file system for home directories: encrypted, compressed, backed up daily, retained by default.

    L1, because `aws_fsx` has no construct for OpenZFS (aws-cdk-lib 2.275.0).

    CloudFormation replaces the file system with a new, empty one if its root volume changes, its exports included, or
    its subnet, security group or key. Other volumes change in place: the files are therefore in a volume of their own.
    The security group is the file system's own and never changes; `allow_clients` adds rules to it.

    Args:
        vpc: The VPC of the subnets.
        subnet: Subnet of the server, preferably in the zone of its clients.
        size: What to create; `planning.home.size_openzfs` chooses it.
        client_ranges: Address ranges of the clients, such as the VPC's: NFS checks them besides the security group.
            They change in place.
        standby_subnet: For MULTI_AZ_1 the subnet of the second server, in another zone.
        route_table_ids: For MULTI_AZ_1 the route tables of all clients. Default: those of the two subnets.
        key: Key of the data at rest. Default: the account's key for FSx.
        backup_days: Days for which daily backups are kept, 0 to 90; 0 disables them.
        removal_policy: What happens to it when it is removed from the template. Default: it is retained, unless the
            deployment that creates it fails.

    Raises:
        Refusal: If FSx would refuse the file system. All reasons at once.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        size: OpenZfsSize,
        client_ranges: str | Sequence[str],
        standby_subnet: ec2.ISubnet | None = None,
        route_table_ids: str | Sequence[str] | None = None,
        key: kms.IKey | None = None,
        backup_days: int = openzfs.BACKUP_DAYS,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        two_zones = size.deployment.zones > 1
        ranges = as_list(client_ranges)
        route_tables = as_list(route_table_ids or [])
        errors = [
            *_check_zones(size, standby_subnet, route_tables),
            *_check_ranges(ranges),
            *check_same_region(self, {"key": key}),
            *check_same_vpc({"vpc": vpc, "subnet": subnet, "standby_subnet": standby_subnet}),
        ]
        if not 0 <= backup_days <= openzfs.MOST_BACKUP_DAYS:
            errors.append(HOME_BACKUPS(f"backup_days must be 0 to {openzfs.MOST_BACKUP_DAYS}, got {backup_days}"))
        if errors:
            raise Refusal(self, errors)
        self.size = size
        subnets = [subnet, standby_subnet] if standby_subnet else [subnet]
        group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=vpc,
            description="FSx for OpenZFS: its own group, never to be exchanged",
            allow_all_outbound=False,
        )
        group.apply_removal_policy(removal_policy)
        #: Security group of the file system alone.
        self.security_group: ec2.ISecurityGroup = group
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="OPENZFS",
            storage_type="SSD",
            storage_capacity=size.capacity_gib,
            subnet_ids=[place.subnet_id for place in subnets],
            security_group_ids=[group.security_group_id],
            kms_key_id=None if key is None else key.key_arn,
            open_zfs_configuration=fsx.CfnFileSystem.OpenZFSConfigurationProperty(
                deployment_type=size.deployment_type,
                throughput_capacity=size.throughput_mb_per_s,
                disk_iops_configuration=fsx.CfnFileSystem.DiskIopsConfigurationProperty(
                    mode="AUTOMATIC" if size.iops is None else "USER_PROVISIONED", iops=size.iops
                ),
                automatic_backup_retention_days=backup_days,
                copy_tags_to_backups=True,
                preferred_subnet_id=subnet.subnet_id if two_zones else None,
                route_table_ids=route_tables or [place.route_table.route_table_id for place in subnets]
                if two_zones
                else None,
                root_volume_configuration=fsx.CfnFileSystem.RootVolumeConfigurationProperty(
                    data_compression_type="ZSTD",
                    nfs_exports=[
                        fsx.CfnFileSystem.NfsExportsProperty(
                            client_configurations=[
                                fsx.CfnFileSystem.ClientConfigurationsProperty(clients=_NO_CLIENT, options=["ro"])
                            ]
                        )
                    ],
                ),
            ),
        )
        self._resource.apply_removal_policy(removal_policy)
        volume = fsx.CfnVolume(
            self,
            "Volume",
            name=_VOLUME,
            volume_type="OPENZFS",
            open_zfs_configuration=fsx.CfnVolume.OpenZFSConfigurationProperty(
                parent_volume_id=self._resource.attr_root_volume_id,
                data_compression_type="ZSTD",
                nfs_exports=[
                    fsx.CfnVolume.NfsExportsProperty(
                        client_configurations=[
                            fsx.CfnVolume.ClientConfigurationsProperty(clients=place, options=_EXPORT_OPTIONS)
                            for place in ranges
                        ]
                    )
                ],
            ),
        )
        volume.apply_removal_policy(removal_policy)
        self.volume_id = volume.attr_volume_id
        self.dns_name = self._resource.attr_dns_name
        self._volume_path, self._transfer_bytes = _VOLUME_PATH, size.transfer_bytes
        self._set(self._resource.ref, OpenZfsMetrics(self._resource.ref, self), group, vpc, subnet, standby_subnet, key)

    @staticmethod
    @checked
    def from_open_zfs_home_attributes(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        volume_id: str,
        volume_path: str = "/fsx",
        throughput_mb_per_s: int = 160,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ISharedFileSystem:
        """Import an existing volume of FSx for OpenZFS, in the region of the stack.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            file_system_id: Such as `fs-0123456789abcdef0`.
            volume_id: Such as `fsvol-0123456789abcdef0`.
            volume_path: Path of the volume. Default: the root volume.
            throughput_mb_per_s: Its throughput capacity in MB/s: the smallest servers take smaller requests.
            security_group: Security group of the file system, to which rules for clients are added. Default: its owner
                adds them.

        Raises:
            Refusal: If an id or the path is not one of OpenZFS. All reasons at once.
        """
        home = _OpenZfs(scope, id)
        problems = [*id_problem("file_system_id", file_system_id, "fs-"), *id_problem("volume_id", volume_id, "fsvol-")]
        if known(volume_path) and not _VOLUME_PATHS.fullmatch(volume_path):
            problems.append(_PATH(f"volume_path must begin with /fsx, such as /fsx/home, got {volume_path[:120]!r}"))
        if problems:
            raise Refusal(home, problems)
        stack = cdk.Stack.of(home)
        home.volume_id = volume_id
        home.dns_name = f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        home._volume_path, home._transfer_bytes = volume_path, openzfs.transfer_bytes(throughput_mb_per_s)
        home._set(file_system_id, OpenZfsMetrics(file_system_id, home), security_group)
        unseen = f"that its volume {volume_path} is exported to the addresses of the nodes, with rw and no_root_squash"
        warn_of_import(home, file_system_id, security_group, unseen)
        return home


def _check_zones(
    size: OpenZfsSize, standby_subnet: ec2.ISubnet | None, route_table_ids: Sequence[str]
) -> list[Message]:
    if size.deployment.zones > 1:
        return [] if standby_subnet else [HOME_SOLD(f"{size.deployment_type} needs a standby_subnet, in another zone")]
    given = {"standby_subnet": standby_subnet, "route_table_ids": route_table_ids}
    one_zone = "its servers are in one zone"
    return [HOME_SOLD(f"{size.deployment_type} does not accept {name}: {one_zone}") for name in given if given[name]]


def _check_ranges(ranges: Sequence[str]) -> list[Message]:
    problems = []
    if not 1 <= len(ranges) <= openzfs.MOST_CLIENT_RANGES:
        text = f"client_ranges must hold 1 to {openzfs.MOST_CLIENT_RANGES} ranges, got {len(ranges)}"
        problems.append(HOME_CLIENTS(text))
    for text in ranges:
        if known(text):
            try:
                ip_network(text)
            except ValueError as invalid:
                message = f"client_ranges must hold ranges such as 10.0.0.0/16, got {text!r}: {invalid}"
                problems.append(HOME_CLIENTS(message))
    return problems
