"""Home directories on an existing NFS server."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.boot import Mount, Volume, nfs_mount
from ultracluster.cloudwatch import AlarmDefinition
from ultracluster.planning import NFS_EXPORT, NFS_SERVER, checked, text_problem
from ultracluster.rules import Refusal, error
from ultracluster.storage._metrics import FileSystemMetrics
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.home._home import warn_of_import

_VOLUME = error("nfs-home-volume", "No EKS add-on has a CSI driver for any NFS server.")


class _NoMetrics(FileSystemMetrics):
    """An NFS server, which CloudWatch has no metrics of."""

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms by name: none."""
        return {}


class NfsHome(SharedFileSystem):
    """An existing server of home directories that supports NFS 4.1, such as FSx for ONTAP, for Slurm nodes.

    Nothing of it is changed but its security group. The traffic is not encrypted by NFS; between Nitro instances it is
    by the network.

    Args:
        server: DNS name or address of the server; of FSx for ONTAP, the NFS DNS name of the storage virtual machine.
        path: Path on the server; of FSx for ONTAP, the junction path of the volume.
        security_group: Security group of the server, to which rules for clients are added. Default: its owner adds
            them.

    Raises:
        Refusal: If the server is not a DNS name or IPv4 address, or the path is not absolute or has other characters.

    See: https://www.rfc-editor.org/rfc/rfc8881 (NFS 4.1, read 2026-11-22)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        server: str,
        path: str,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("server", server, NFS_SERVER, "the DNS name or IPv4 address of an NFS server"),
            *text_problem(
                "path", path, NFS_EXPORT, "an absolute path of letters, digits, dots, hyphens and underscores"
            ),
        ]
        if problems:
            raise Refusal(self, problems)
        self._server, self._path = server, path
        self._set(server, _NoMetrics(server), security_group)
        unseen = f"that it exports {path} to the addresses of the nodes, to be written, without root squash"
        warn_of_import(self, server, security_group, unseen)

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node, with the NFS client."""
        return nfs_mount(server=self._server, export=self._path, path=path)

    def volume(self, name: str) -> Volume:
        """Refuse: Kubernetes mounts the volumes of CSI drivers only.

        Raises:
            Refusal: Always.
        """
        message = f"no EKS add-on mounts an NFS server such as {self._server}: use EfsHome or OpenZfsHome"
        raise Refusal(self, _VOLUME(message))
