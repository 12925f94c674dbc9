"""Base of created and imported Lustre file systems."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.boot import Mount, Volume
from ultracluster.network import allow_all_between
from ultracluster.storage._alarms import Alarms
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.lustre._metrics import LustreMetrics
from ultracluster.storage.lustre._mount import lustre_mount, lustre_volume


def lustre_port() -> ec2.Port:
    """Ports of Lustre: 988, and 1018 to 1023 for connections that the servers open.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html (read 2026-11-21)
    """
    return ec2.Port.tcp_range(988, 1023)


class Lustre(SharedFileSystem):
    """A file system of FSx for Lustre."""

    file_system_id: str
    mount_name: str
    dns_name: str
    #: Whether it was created with EFA.
    efa: bool
    #: Whether clients mount it with `relatime`.
    relatime: bool
    #: CloudWatch metrics.
    metrics: LustreMetrics
    #: CloudWatch alarms.
    alarms: Alarms

    @property
    def device(self) -> str:
        """Device that clients mount: `DNS@tcp:/MOUNTNAME`. The address says tcp with EFA too."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node."""
        return lustre_mount(self.device, path, efa=self.efa, relatime=self.relatime)

    def volume(self, name: str) -> Volume:
        """Return the volume of Kubernetes."""
        return lustre_volume(
            name,
            file_system_id=self.file_system_id,
            dns_name=self.dns_name,
            mount_name=self.mount_name,
            # Kubernetes needs a number; Intelligent-Tiering has none.
            capacity_gib=self._capacity_gib or 1,
            relatime=self.relatime,
        )

    def _set(
        self,
        *,
        file_system_id: str,
        mount_name: str,
        dns_name: str,
        efa: bool,
        relatime: bool,
        capacity_gib: int | None,
    ) -> None:
        self.file_system_id = file_system_id
        self.mount_name = mount_name
        self.dns_name = dns_name
        self.efa = efa
        self.relatime = relatime
        self._capacity_gib = capacity_gib
        self.metrics = LustreMetrics(file_system_id)
        self.alarms = Alarms(self, self.metrics.alarm_definitions())

    def _allow(self, scope: Construct, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
        # EFA passes only where each group allows all traffic from and to the other.
        allow_all_between(scope, "Lustre", server, client)
