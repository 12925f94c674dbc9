"""A home directory on FSx for OpenZFS."""

from collections.abc import Sequence
from ipaddress import ip_network

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.hardware.openzfs import BACKUP_DAYS, MOST_BACKUP_DAYS, MOST_CLIENT_RANGES
from ultracluster.network import allow_nfs
from ultracluster.planning import Mount, OpenZfsSize, Volume
from ultracluster.planning.home_mounts import openzfs_mount, openzfs_volume
from ultracluster.storage.checked import checked
from ultracluster.storage.openzfs_metrics import OpenZfsMetrics

_VOLUME = "home"
# The root volume is always /fsx. https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/getting-started.html
# (read 2026-11-21)
_VOLUME_PATH = f"/fsx/{_VOLUME}"
# crossmnt shows the snapshots. no_root_squash: root of a node makes directories and gives them to their owners.
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/creating-volumes.html (read 2026-11-21)
_EXPORT_OPTIONS = ["rw", "crossmnt", "no_root_squash"]
# Who may mount a volume may mount all below it (same page), so the root volume is for nobody: this is an address that
# no client comes from.
_NOBODY = "127.0.0.1"


@jsii.implements(ec2.IConnectable)
class OpenZfsHome(OpenZfsMetrics):
    """A file system for home directories: encrypted, compressed, backed up daily, kept when the stack goes.

    L1, because `aws_fsx` has no construct for OpenZFS (aws-cdk-lib 2.275.0).

    The files are in a volume of their own, for CloudFormation answers every change of the root volume, its exports
    included, with a new, empty file system; those of other volumes change in place. So it answers a change of subnet,
    security group or key: the group is therefore the file system's own and never changes; clients are let in by rules
    (`allow_clients`).

    Args:
        vpc: The VPC of the subnets.
        subnet: Where its server stands; the zone of its clients is best.
        size: What to buy; `planning.size_openzfs` finds it.
        client_ranges: Address ranges of the clients, such as the VPC's: NFS checks them besides the group. They change
            in place.
        standby_subnet: For MULTI_AZ_1 the subnet of the second server, in another zone.
        route_table_ids: For MULTI_AZ_1 the route tables of all clients. Default: those of the two subnets.
        key: Key of the data at rest. Default: the account's key for FSx.
        backup_days: Days that its daily backups are kept, 0 to 90; 0 makes none.
        removal_policy: What becomes of it when it leaves the template. Default: it stays, unless the deployment that
            makes it fails.

    Raises:
        ValueError: When the pieces do not fit. All reasons at once.
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
        client_ranges: Sequence[str],
        standby_subnet: ec2.ISubnet | None = None,
        route_table_ids: Sequence[str] | None = None,
        key: kms.IKey | None = None,
        backup_days: int = BACKUP_DAYS,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        two_zones = size.deployment.zones > 1
        problems = [
            *_check_zones(size, standby_subnet, route_table_ids),
            *_check_ranges(client_ranges),
            *([] if 0 <= backup_days <= MOST_BACKUP_DAYS else [f"backup_days must be 0 to 90, got {backup_days}"]),
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
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
        self.security_group: ec2.ISecurityGroup = group
        self.connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.NFS)
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="OPENZFS",
            storage_type="SSD",
            storage_capacity=size.capacity_gib,
            subnet_ids=[one.subnet_id for one in subnets],
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
                route_table_ids=list(route_table_ids or (one.route_table.route_table_id for one in subnets))
                if two_zones
                else None,
                root_volume_configuration=fsx.CfnFileSystem.RootVolumeConfigurationProperty(
                    data_compression_type="ZSTD",
                    nfs_exports=[
                        fsx.CfnFileSystem.NfsExportsProperty(
                            client_configurations=[
                                fsx.CfnFileSystem.ClientConfigurationsProperty(clients=_NOBODY, options=["ro"])
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
                            fsx.CfnVolume.ClientConfigurationsProperty(clients=one, options=_EXPORT_OPTIONS)
                            for one in client_ranges
                        ]
                    )
                ],
            ),
        )
        volume.apply_removal_policy(removal_policy)
        self.file_system_id = self._resource.ref
        #: Id of the volume, such as `fsvol-0123456789abcdef0`: what a snapshot is taken of.
        self.volume_id = volume.attr_volume_id
        #: DNS name of the server.
        self.dns_name = self._resource.attr_dns_name

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group mount it.

        Args:
            security_group: The group of the clients.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.
        """
        allow_nfs(self, id, self.security_group, security_group)

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path: AL2023 has the NFS client, Ubuntu calls it nfs-common."""
        return openzfs_mount(
            dns_name=self.dns_name, volume_path=_VOLUME_PATH, path=path, transfer_bytes=self.size.transfer_bytes
        )

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it, with the CSI driver for OpenZFS."""
        return openzfs_volume(
            name=name,
            volume_id=self.volume_id,
            dns_name=self.dns_name,
            volume_path=_VOLUME_PATH,
            transfer_bytes=self.size.transfer_bytes,
            capacity_gib=self.size.capacity_gib,
        )


def _check_zones(
    size: OpenZfsSize, standby_subnet: ec2.ISubnet | None, route_table_ids: Sequence[str] | None
) -> list[str]:
    if size.deployment.zones > 1:
        return [] if standby_subnet else [f"{size.deployment_type} needs a standby_subnet, in another zone"]
    given = {"standby_subnet": standby_subnet, "route_table_ids": route_table_ids}
    return [f"{size.deployment_type} takes no {name}: its server stays in one zone" for name in given if given[name]]


def _check_ranges(ranges: Sequence[str]) -> list[str]:
    problems = []
    if not 1 <= len(ranges) <= MOST_CLIENT_RANGES:
        problems.append(f"client_ranges must hold 1 to {MOST_CLIENT_RANGES} ranges, got {len(ranges)}")
    for one in ranges:
        if not cdk.Token.is_unresolved(one):
            try:
                ip_network(one)
            except ValueError as error:
                problems.append(f"client_ranges must hold ranges such as 10.0.0.0/16, got {one!r}: {error}")
    return problems
