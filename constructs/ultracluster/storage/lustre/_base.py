"""Base of created and imported Lustre file systems."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.boot import LUSTRE_EFA_UNIT, Mount, Volume
from ultracluster.network import allow_all_between
from ultracluster.planning.nodes import MOUNT_PATH, check_mount_path
from ultracluster.rules import Refusal
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.lustre._metrics import LustreMetrics

# Waits for the network, never blocks the boot, and mounts on first use. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/mount-fs-auto-mount-onreboot.html (read 2026-11-20). That page has
# x-systemd.requires=systemd-networkd-wait-online.service: the mount would fail where one of 16 interfaces stays without
# an address. `_netdev` orders it after network-online.target.
_MOUNT_OPTIONS = ("defaults", "flock", "_netdev", "nofail", "x-systemd.automount")
# https://github.com/kubernetes-sigs/aws-fsx-csi-driver, v1.9.0 (read 2026-11-20)
_CSI_DRIVER = "fsx.csi.aws.com"


class Lustre(SharedFileSystem):
    """A file system of FSx for Lustre."""

    mount_name: str
    dns_name: str
    #: Whether it was created with EFA.
    efa: bool
    #: Whether clients mount it with `relatime`.
    relatime: bool
    #: CloudWatch metrics.
    metrics: LustreMetrics

    @property
    def device(self) -> str:
        """Device that clients mount: `DNS@tcp:/MOUNTNAME`. The address has tcp with EFA too."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node. With EFA, a unit configures the client before the mount."""
        if problems := check_mount_path(path, example="/fsx"):
            raise Refusal(self, MOUNT_PATH(f"path {problems[0]}"))
        defaults, *rest = _MOUNT_OPTIONS
        options = ",".join([defaults, access_times(self.relatime), *rest])
        after = (LUSTRE_EFA_UNIT,) if self.efa else ()
        return Mount(device=self.device, path=path, type="lustre", options=options, after=after)

    def volume(self, name: str) -> Volume:
        """Return the volume of Kubernetes: a static volume of the CSI driver."""
        return Volume(
            name=name,
            driver=_CSI_DRIVER,
            handle=self.file_system_id,
            attributes={"dnsname": self.dns_name, "mountname": self.mount_name},
            # Kubernetes needs a number; Intelligent-Tiering has none.
            mount_options=("flock", access_times(self.relatime)),
        )

    def _port(self) -> ec2.Port:
        # 988, and 1018 to 1023 for connections that the servers open. See
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html (read 2026-11-21).
        return ec2.Port.tcp_range(988, 1023)

    def _allow(self, scope: Construct, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
        # EFA passes only where each group allows all traffic from and to the other.
        allow_all_between(scope, "Lustre", server, client)


def access_times(relatime: bool) -> str:
    """Return the mount option that determines whether reading a file counts as access."""
    return "relatime" if relatime else "noatime"
