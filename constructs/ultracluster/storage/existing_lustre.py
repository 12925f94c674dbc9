"""A file system of FSx for Lustre that is there already."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Network

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network import allow_all_between, check_efa_client
from ultracluster.planning import Mount, Volume
from ultracluster.storage.checked import checked
from ultracluster.storage.lustre_metrics import LustreMetrics
from ultracluster.storage.lustre_mount import lustre_mount, lustre_volume

#: Id of the warning about what this library can't do to a file system of yours.
EXISTING_LUSTRE = "ultracluster:existing-lustre"
_ID = re.compile(r"fs-([0-9a-f]{8}|[0-9a-f]{17})")
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html (read 2026-11-21)
_MOUNT_NAME = re.compile(r"[A-Za-z0-9_-]{1,8}", re.ASCII)


@jsii.implements(ec2.IConnectable)
class ExistingLustre(Construct):
    """A file system of yours. It is mounted, and never changed.

    Args:
        file_system_id: `fs-...`.
        mount_name: What `LustreMountName` of `aws fsx describe-file-systems` says; `fsx` for SCRATCH_1.
        efa: Whether it was made with EFA.
        zone: Id or name of its zone, to check that EFA reaches it. Default: not known.
        cidr: Range of its subnet, to check the same. Default: not known.
        capacity_gib: Its capacity, which Kubernetes wants to hear. Default: not known.
        dns_name: Its DNS name. Default: that of its id in the stack's region.
        security_group: Its security group, to which the rules for the clients are added. Default: not known; then the
            rules are yours to add, and a warning says so.
        relatime: Whether clients mount it so that reading a file counts as access, which a release of cold data goes
            by. Default: `noatime`, which is faster.

    Raises:
        ValueError: When id, mount name or range are none. All reasons at once.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        mount_name: str,
        efa: bool = False,
        zone: str | None = None,
        cidr: str | None = None,
        capacity_gib: int | None = None,
        dns_name: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        relatime: bool = False,
    ) -> None:
        super().__init__(scope, id)
        problems = []
        if not cdk.Token.is_unresolved(file_system_id) and not _ID.fullmatch(file_system_id):
            problems.append(f"file_system_id must be fs- and 17 hexadecimal digits, got {file_system_id[:60]!r}")
        if not cdk.Token.is_unresolved(mount_name) and not _MOUNT_NAME.fullmatch(mount_name):
            problems.append(f"mount_name has 1 to 8 letters, digits, hyphens and underscores, got {mount_name[:60]!r}")
        try:
            self._range = None if cidr is None or cdk.Token.is_unresolved(cidr) else IPv4Network(cidr)
        except ValueError:
            problems.append(f"cidr must be the range of its subnet, such as 10.0.128.0/18, got {cidr!r}")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self._zone = zone
        self.file_system_id = file_system_id
        self.mount_name = mount_name
        self.efa = efa
        #: Whether clients mount it with `relatime`.
        self.relatime = relatime
        stack = cdk.Stack.of(self)
        self.dns_name = dns_name or f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        #: What CloudWatch knows of it.
        self.metrics = LustreMetrics(file_system_id)
        self._capacity_gib = capacity_gib
        self._group = security_group
        self.connections = ec2.Connections(security_groups=[security_group] if security_group else [])
        cdk.Validations.of(self).add_warning(
            EXISTING_LUSTRE,
            _warning(file_system_id, group_known=security_group is not None, seen=not efa or None not in (zone, cidr)),
        )

    @property
    def device(self) -> str:
        """What a client mounts: `DNS@tcp:/MOUNTNAME`."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it."""
        return lustre_mount(self.device, path, efa=self.efa, relatime=self.relatime)

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it."""
        return lustre_volume(
            name,
            file_system_id=self.file_system_id,
            dns_name=self.dns_name,
            mount_name=self.mount_name,
            capacity_gib=self._capacity_gib or 1,
            relatime=self.relatime,
        )

    def allow_clients(
        self, security_group: ec2.ISecurityGroup, *, subnets: Sequence[ec2.ISubnet] = (), id: str = "Clients"
    ) -> None:
        """Let the members of a group mount it, where its own group is known.

        Args:
            security_group: The group of the clients.
            subnets: Where those are that use EFA, to check that they can. Default: not checked.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.

        Raises:
            ValueError: When it has EFA, and a subnet is in another zone or /16 than it.
        """
        problems = [
            problem for subnet in subnets for problem in check_efa_client(subnet, cidr=self._range, zone=self._zone)
        ]
        if self.efa and problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        if self._group is not None:
            allow_all_between(self, id, self._group, security_group)


def _warning(file_system_id: str, *, group_known: bool, seen: bool) -> str:
    words = [f"{file_system_id} is yours: this library neither retains nor guards it"]
    if not group_known:
        words.append(
            "let the clients in yourself: all traffic between its security group and theirs, both ways, by group id"
        )
    if not seen:
        words.append("over EFA it is reached from its own zone and /16 only, which is yours to see to")
    return "; ".join(words)
