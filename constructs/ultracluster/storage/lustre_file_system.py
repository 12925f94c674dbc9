"""An FSx for Lustre file system that training nodes mount."""

import re
from collections.abc import Sequence
from dataclasses import asdict

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.network import allow_all_between, check_efa_subnets
from ultracluster.planning import LustreOverrides, LustreSpec, Mount, Volume, check_lustre
from ultracluster.planning.arguments import wrong_fields
from ultracluster.storage.checked import checked
from ultracluster.storage.lustre_metrics import LustreMetrics
from ultracluster.storage.lustre_mount import lustre_mount, lustre_volume


@jsii.implements(ec2.IConnectable)
class LustreFileSystem(Construct):
    """A file system in one subnet, encrypted, compressed, and kept when the stack goes.

    L1, because `fsx.LustreFileSystem` has neither EFA nor metadata settings nor logs (aws-cdk-lib 2.275.0).

    CloudFormation answers a change of subnet, security group or key with a new, empty file system. The security group
    is therefore the file system's own and never changes; clients are let in by rules (`allow_clients`).

    Args:
        vpc: The VPC of the subnet.
        subnet: The one subnet; for EFA the one of its clients.
        spec: What to buy; `planning.plan_lustre` finds it from a goal.
        key: Key of the data at rest; SCRATCH_2 takes none. Default: the account's key for FSx.
        maintenance: When FSx may patch it, `d:HH:MM` in UTC, 1 being Monday. Default: FSx chooses.
        backup_days: For how many days FSx keeps a daily backup; such backups go with the file system. Not with data
            repository associations. Default: none are made.
        relatime: Whether clients mount it so that reading a file counts as access, which a release of cold data goes
            by. Default: `noatime`, which is faster.
        removal_policy: What becomes of the file system when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        spec: LustreSpec,
        key: kms.IKey | None = None,
        maintenance: str | None = None,
        backup_days: int | None = None,
        relatime: bool = False,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        self.spec = spec
        self._subnet = subnet
        #: Whether clients mount it with `relatime`.
        self.relatime = relatime
        if problems := _problems(spec, maintenance, backup_days):
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="FSx for Lustre: its own group, never to be exchanged"
        )
        self.security_group: ec2.ISecurityGroup = group
        self.connections = ec2.Connections(security_groups=[self.security_group])
        # EFA needs the group's rules before the file system: FSx checks them when it creates one.
        rules = Construct(self, "Rules")
        allow_all_between(rules, "Self", group, group)
        # The servers talk to each other through these: a file system that stays without them is cut off from itself.
        cdk.RemovalPolicies.of(rules).apply(removal_policy)
        group.apply_removal_policy(removal_policy)

        log_group = logs.LogGroup(
            self,
            "LogGroup",
            # FSx takes log groups under this prefix only.
            log_group_name=f"/aws/fsx/lustre/{cdk.Names.unique_resource_name(self, max_length=80, separator='-')}",
            retention=logs.RetentionDays.THREE_MONTHS,
            # A log group that stayed would stand in the way of the next cluster of this name.
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self._resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=spec.lustre_version,
            storage_type=spec.storage_type,
            storage_capacity=spec.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[self.security_group.security_group_id],
            kms_key_id=None if key is None or spec.deployment_type == "SCRATCH_2" else key.key_arn,
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=spec.deployment_type,
                per_unit_storage_throughput=spec.mb_per_s_per_tib,
                throughput_capacity=spec.throughput_capacity_mb_per_s,
                efa_enabled=spec.efa if spec.deployment_type == "PERSISTENT_2" else None,
                # Can't be added later, and EFA asks for it; AUTOMATIC costs nothing and grows with the capacity.
                metadata_configuration=_metadata(spec),
                data_read_cache_configuration=_read_cache(spec),
                data_compression_type=spec.compression,
                weekly_maintenance_start_time=maintenance,
                automatic_backup_retention_days=backup_days,
                log_configuration=fsx.CfnFileSystem.LogConfigurationProperty(
                    level="WARN_ERROR", destination=_without_star(log_group)
                ),
            ),
        )
        self._resource.apply_removal_policy(removal_policy)
        self._resource.node.add_dependency(rules)
        #: What CloudWatch knows of it.
        self.metrics = LustreMetrics(self._resource.ref)
        #: Id, such as `fs-0123456789abcdef0`.
        self.file_system_id = self._resource.ref
        #: DNS name of the management server.
        self.dns_name = self._resource.attr_dns_name
        #: Name that clients mount.
        self.mount_name = self._resource.attr_lustre_mount_name

    @property
    def device(self) -> str:
        """What a client mounts: `DNS@tcp:/MOUNTNAME`. The address says tcp with EFA too."""
        return f"{self.dns_name}@tcp:/{self.mount_name}"

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it."""
        return lustre_mount(self.device, path, efa=self.spec.efa, relatime=self.relatime)

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it."""
        return lustre_volume(
            name,
            file_system_id=self.file_system_id,
            dns_name=self.dns_name,
            mount_name=self.mount_name,
            # Intelligent-Tiering grows with its data, and Kubernetes wants a number.
            capacity_gib=self.spec.capacity_gib or 1,
            relatime=self.relatime,
        )

    def allow_clients(
        self, security_group: ec2.ISecurityGroup, *, subnets: Sequence[ec2.ISubnet] = (), id: str = "Clients"
    ) -> None:
        """Let the members of a group mount the file system, over EFA as over TCP.

        Args:
            security_group: The group of the clients.
            subnets: Where those are that use EFA, to check that they can. Default: not checked.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.

        Raises:
            ValueError: When the file system has EFA, and a subnet is in another zone or /16 than the file system's.
        """
        problems = [problem for subnet in subnets for problem in check_efa_subnets(self._subnet, subnet)]
        if self.spec.efa and problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        allow_all_between(self, id, self.security_group, security_group)


# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html (read 2026-11-21)
_MAINTENANCE = re.compile(r"[1-7]:([01]\d|2[0-3]):[0-5]\d", re.ASCII)
_MOST_BACKUP_DAYS = 90


def _problems(spec: LustreSpec, maintenance: str | None, backup_days: int | None) -> list[str]:
    # A dataclass takes whatever it is given.
    if wrong := wrong_fields(spec):
        return [f"spec: {one}" for one in wrong]
    problems = check_lustre(LustreOverrides(**asdict(spec)), backups=bool(backup_days))
    if maintenance is not None and not cdk.Token.is_unresolved(maintenance) and not _MAINTENANCE.fullmatch(maintenance):
        problems.append(f"maintenance must be d:HH:MM in UTC, as in 7:03:00 for Sunday, got {maintenance!r}")
    if backup_days is not None and not 0 <= backup_days <= _MOST_BACKUP_DAYS:
        problems.append(f"backups are kept for 0 to {_MOST_BACKUP_DAYS} days, got {backup_days}")
    return problems


def _metadata(spec: LustreSpec) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if spec.metadata_mode is None:
        return None
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode=spec.metadata_mode, iops=spec.metadata_iops)


def _read_cache(spec: LustreSpec) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
    if spec.read_cache_mode is None:
        return None
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(
        sizing_mode=spec.read_cache_mode, size_gib=spec.read_cache_gib
    )


def _without_star(log_group: logs.LogGroup) -> str:
    """The ARN of the group without the `:*` that CloudFormation appends and FSx refuses."""
    return cdk.Stack.of(log_group).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group.log_group_name,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
