"""A home directory that is there already."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.hardware.openzfs import transfer_bytes
from ultracluster.network import allow_nfs
from ultracluster.planning import Mount, Volume
from ultracluster.planning.home_mounts import efs_mount, efs_volume, openzfs_mount, openzfs_volume
from ultracluster.storage.checked import checked
from ultracluster.storage.efs_metrics import EfsMetrics
from ultracluster.storage.openzfs_metrics import OpenZfsMetrics

#: Id of the warning about rules that its owner has to add.
EXISTING_HOME_RULES = "ultracluster:existing-home-rules"
#: Id of the warning about what nobody can see of it.
EXISTING_HOME_UNSEEN = "ultracluster:existing-home-unseen"


class ExistingOpenZfsHome(OpenZfsMetrics):
    """What `ExistingHome.openzfs` gives."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        volume_id: str,
        volume_path: str,
        throughput_mb_per_s: int,
        security_group: ec2.ISecurityGroup | None,
    ) -> None:
        super().__init__(scope, id)
        if not volume_path.startswith("/fsx"):
            raise ValueError(
                f"{self.node.path}: volume_path must begin with /fsx, such as /fsx/home, got {volume_path!r}"
            )
        self.file_system_id = file_system_id
        self._volume_id = volume_id
        self._volume_path = volume_path
        self._transfer_bytes = transfer_bytes(throughput_mb_per_s)
        self._security_group = security_group
        stack = cdk.Stack.of(self)
        #: DNS name of the server.
        self.dns_name = f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        unseen = f"whether its volume {volume_path} is exported to your nodes' addresses, with rw and no_root_squash"
        _warn(self, file_system_id, security_group, unseen)

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group mount it, when its own group was given; else its owner has to."""
        _allow(self, id, self._security_group, security_group)

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path."""
        return openzfs_mount(
            dns_name=self.dns_name, volume_path=self._volume_path, path=path, transfer_bytes=self._transfer_bytes
        )

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it, with the CSI driver for OpenZFS. It says 1 GiB, which nothing reads."""
        return openzfs_volume(
            name=name,
            volume_id=self._volume_id,
            dns_name=self.dns_name,
            volume_path=self._volume_path,
            transfer_bytes=self._transfer_bytes,
            capacity_gib=1,
        )


class ExistingEfsHome(EfsMetrics):
    """What `ExistingHome.efs` gives."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        tls: bool,
        security_group: ec2.ISecurityGroup | None,
    ) -> None:
        super().__init__(scope, id)
        self.file_system_id = file_system_id
        self._tls = tls
        self._security_group = security_group
        stack = cdk.Stack.of(self)
        #: DNS name, which leads to the mount target of the client's zone.
        self.dns_name = f"{file_system_id}.efs.{stack.region}.{stack.url_suffix}"
        unseen = "whether it has a mount target in the zone of each node, and a policy that lets them in"
        _warn(self, file_system_id, security_group, unseen)

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group mount it, when the group of its mount targets was given; else its owner has to."""
        _allow(self, id, self._security_group, security_group)

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path."""
        return efs_mount(file_system_id=self.file_system_id, dns_name=self.dns_name, path=path, tls=self._tls)

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it, with the CSI driver for EFS."""
        return efs_volume(name=name, file_system_id=self.file_system_id, tls=self._tls)


class ExistingHome:
    """A file system of yours as home directory: mounted, watched, and otherwise left alone.

    The library changes nothing of it, but for rules in a security group that you hand in. What it cannot do or see, it
    says when it synthesises, as warnings that can be acknowledged by their ids.
    """

    @staticmethod
    def openzfs(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        volume_id: str,
        volume_path: str = "/fsx",
        throughput_mb_per_s: int = 160,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ExistingOpenZfsHome:
        """A volume of a file system of FSx for OpenZFS, in this region.

        Args:
            scope: Where it belongs.
            id: Its name there.
            file_system_id: Such as `fs-0123456789abcdef0`.
            volume_id: Such as `fsvol-0123456789abcdef0`.
            volume_path: Path of the volume. Default: the root volume.
            throughput_mb_per_s: Its throughput capacity in MB/s: the smallest servers take smaller requests.
            security_group: The group of the file system, if this stack may add rules to it. Default: its owner does.

        Raises:
            ValueError: When the path is not one of OpenZFS.
        """
        return ExistingOpenZfsHome(
            scope,
            id,
            file_system_id=file_system_id,
            volume_id=volume_id,
            volume_path=volume_path,
            throughput_mb_per_s=throughput_mb_per_s,
            security_group=security_group,
        )

    @staticmethod
    def efs(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        tls: bool = True,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ExistingEfsHome:
        """A file system of EFS, in this region.

        Args:
            scope: Where it belongs.
            id: Its name there.
            file_system_id: Such as `fs-0123456789abcdef0`.
            tls: Whether nodes mount it over TLS; see `EfsHome`.
            security_group: The group of its mount targets, if this stack may add rules to it. Default: its owner does.
        """
        return ExistingEfsHome(scope, id, file_system_id=file_system_id, tls=tls, security_group=security_group)


def _allow(scope: Construct, id: str, own: ec2.ISecurityGroup | None, clients: ec2.ISecurityGroup) -> None:
    if own is not None:
        allow_nfs(scope, id, own, clients)


def _warn(scope: Construct, file_system_id: str, own: ec2.ISecurityGroup | None, unseen: str) -> None:
    validations = cdk.Validations.of(scope)
    if own is None:
        validations.add_warning(
            EXISTING_HOME_RULES,
            f"{file_system_id} is not ours to open: let tcp 2049 in from the security group of the nodes, or hand in "
            "its security_group",
        )
    validations.add_warning(
        EXISTING_HOME_UNSEEN,
        f"nobody can see from here whether {file_system_id} is encrypted, backed up and kept when its stack goes, nor "
        f"{unseen}",
    )
