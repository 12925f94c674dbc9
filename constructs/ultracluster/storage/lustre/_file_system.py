"""An FSx for Lustre file system that training nodes mount."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.catalogue.ec2 import REGIONS, lustre_host
from ultracluster.catalogue.storage import lustre as facts
from ultracluster.clusterfile import Size, Throughput
from ultracluster.network import allow_all_between, check_efa_client, check_efa_subnets, check_same_vpc
from ultracluster.planning import checked, known, text_problem, token_errors
from ultracluster.planning.lustre import (
    LUSTRE_BACKUPS,
    LUSTRE_SOLD,
    LustreGoal,
    LustreOffer,
    LustreSpec,
    check_lustre,
    lustre_offer,
    plan_lustre,
)
from ultracluster.rules import Message, Refusal, Rule, error, shared
from ultracluster.security import check_same_region, readable
from ultracluster.storage._interfaces import ILustreFileSystem
from ultracluster.storage.lustre._base import Lustre
from ultracluster.storage.lustre._export_failures import count_export_failures
from ultracluster.storage.lustre._metrics import LustreMetrics

_MAINTENANCE = error("lustre-maintenance", "The weekly maintenance begins at a minute of a weekday, in UTC.")
_EXISTING_ID = error("lustre-existing", "An existing file system is found by its id and mount name.")
_ZONE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+", re.ASCII)
_DNS_NAME = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*", re.ASCII)
_TIER = shared("lustre-tier")
_VERSION = shared("lustre-version")
EXISTING_LUSTRE = shared("existing-lustre")


class LustreFileSystem(Lustre):
    """A file system in one subnet, encrypted, compressed, and retained when the stack is deleted.

    L1, because `fsx.LustreFileSystem` has neither EFA nor metadata settings nor logs (aws-cdk-lib 2.275.0).

    CloudFormation replaces the file system with a new, empty one if its subnet, security group or key changes. The
    security group is therefore its own and never changes; `allow_clients` adds rules to it.

    Args:
        vpc: The VPC of the subnet.
        subnet: The one subnet; for EFA the subnet of its clients.
        spec: What to create; `planning.lustre.plan_lustre` chooses it for a goal. A throughput or a size, as in the
            cluster file (`40 GB/s`, `100 TiB`), is the cheapest file system that the region sells for it.
        key: Key of the data at rest; SCRATCH_2 does not support it. Default: the account's key for FSx.
        maintenance: Weekly maintenance start time, `d:HH:MM` in UTC, 1 being Monday. Default: FSx chooses.
        backup_days: Days for which FSx keeps a daily backup; deleting the file system deletes these backups. Not with
            data repository associations. Default: no backups.
        relatime: Whether clients mount it so that reading a file counts as access, as a release of cold data requires.
            Default: `noatime`, which is faster.
        removal_policy: What happens to the file system when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

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
        spec: LustreSpec | str,
        key: kms.IKey | None = None,
        maintenance: str | None = None,
        backup_days: int | None = None,
        relatime: bool = False,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        spec = self.spec = _plan(self, spec) if isinstance(spec, str) else spec
        if spec.efa:
            self._reach = partial(check_efa_subnets, subnet)
        errors = [
            *_spec_errors(spec, maintenance, backup_days),
            *check_same_region(scope, {"key": key}),
            *check_same_vpc({"vpc": vpc, "subnet": subnet}),
        ]
        if errors:
            raise Refusal(self, errors)
        for rule, message in _newer(spec):
            cdk.Validations.of(self).add_warning(rule.warning_id, message)
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="FSx for Lustre: its own group, never to be exchanged"
        )
        #: Security group of the file system alone.
        self.security_group: ec2.ISecurityGroup = group
        # FSx checks the group's rules when it creates a file system with EFA.
        rules = Construct(self, "Rules")
        allow_all_between(rules, "Self", group, group)
        # The servers communicate through these rules: a retained file system needs them.
        cdk.RemovalPolicies.of(rules).apply(removal_policy)
        group.apply_removal_policy(removal_policy)

        log_group = logs.LogGroup(
            self,
            "LogGroup",
            # FSx takes log groups under this prefix only.
            log_group_name=f"/aws/fsx/lustre/{cdk.Names.unique_resource_name(self, max_length=80, separator='-')}",
            retention=logs.RetentionDays.THREE_MONTHS,
            # A retained log group would block the next cluster of this name.
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
                # Cannot be added later, and EFA requires it; AUTOMATIC is free and grows with the capacity.
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
        self.mount_name = self._resource.attr_lustre_mount_name
        self.dns_name = self._resource.attr_dns_name
        self.efa, self.relatime = spec.efa, relatime
        metrics = LustreMetrics(
            self._resource.ref,
            self,
            metadata_iops=spec.metadata_iops_given,
            export_failures=count_export_failures(self, log_group, self._resource.ref),
        )
        self._set(self._resource.ref, metrics, group, vpc, subnet, key)

    @staticmethod
    @checked
    def from_lustre_file_system_attributes(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        mount_name: str,
        efa: bool = False,
        zone: str | None = None,
        cidr: str | None = None,
        dns_name: str | None = None,
        security_group: ec2.ISecurityGroup | None = None,
        relatime: bool = False,
    ) -> ILustreFileSystem:
        """Import an existing file system: clients mount it, and nothing of it is changed.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            file_system_id: `fs-...`.
            mount_name: LustreMountName in `aws fsx describe-file-systems`; `fsx` for SCRATCH_1.
            efa: Whether it was created with EFA.
            zone: Id or name of its zone, to check that EFA reaches it. Default: not known.
            cidr: Range of its subnet, to check the same. Default: not known.
            dns_name: Its DNS name. Default: that of its id in the stack's region.
            security_group: Its security group, to which rules for clients are added. Default: not known; its owner
                then adds the rules, and `cdk synth` warns.
            relatime: Whether clients mount it so that reading a file counts as access, as a release of cold data
                requires. Default: `noatime`, which is faster.

        Raises:
            Refusal: If a value is not one of FSx for Lustre. All reasons at once.
        """
        lustre, errors, network = Lustre(scope, id), [], None
        if known(file_system_id) and not facts.FILE_SYSTEM_ID.fullmatch(file_system_id):
            errors.append(f"file_system_id must be fs- and 17 hexadecimal digits, got {file_system_id[:60]!r}")
        if known(mount_name) and not facts.MOUNT_NAME.fullmatch(mount_name):
            errors.append(f"mount_name has 1 to 8 letters, digits, hyphens and underscores, got {mount_name[:60]!r}")
        try:
            network = IPv4Network(cidr) if cidr is not None and known(cidr) else None
        except ValueError:
            errors.append(f"cidr must be the range of its subnet, such as 10.0.128.0/18, got {cidr!r}")
        if zone is not None:
            errors += text_problem("zone", zone, _ZONE, "the id or name of a zone, such as use2-az1")
        if dns_name is not None:
            errors += text_problem("dns_name", dns_name, _DNS_NAME, "a DNS name")
        if errors:
            raise Refusal(lustre, map(_EXISTING_ID, errors))
        if efa:
            known_zone = zone if zone is not None and known(zone) else None
            lustre._reach = partial(check_efa_client, cidr=network, zone=known_zone)
        stack = cdk.Stack.of(lustre)
        lustre.mount_name = mount_name
        in_china = not cdk.Token.is_unresolved(stack.region) and stack.region.startswith("cn-")
        host = lustre_host(file_system_id, stack.region) if in_china else None
        lustre.dns_name = dns_name or host or f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        lustre.efa, lustre.relatime = efa, relatime
        lustre._set(file_system_id, LustreMetrics(file_system_id, lustre), security_group)
        message = [
            f"{readable(lustre, file_system_id)} exists outside of this app, which neither retains nor guards it"
        ]
        if security_group is None:
            message.append(
                "its security group is not known, so allow_clients, connections and mounts add no rule: pass "
                "security_group, or allow all traffic between its group and that of its clients, both ways, by group id"
            )
        if efa and None in (zone, cidr):
            message.append("EFA reaches it from its own zone and /16 only: check both, or pass zone and cidr")
        cdk.Validations.of(lustre).add_warning(EXISTING_LUSTRE.warning_id, readable(lustre, "; ".join(message)))
        return lustre


_MOST_BACKUP_DAYS = 90


def _plan(scope: Construct, text: str) -> LustreSpec:
    if tokens := token_errors({"spec": text}):
        raise Refusal(scope, tokens)
    region = cdk.Stack.of(scope).region
    # What differs by zone within a region are Local Zones.
    offer = next((lustre_offer(f"{prefix}-az1") for prefix, name in REGIONS.items() if name == region), LustreOffer())
    try:
        if "/" in text:
            goal = LustreGoal(throughput_mb_per_s=Throughput.parse(text).mb_per_s)
        else:
            goal = LustreGoal(capacity_gib=Size.parse(text).gib)
        return plan_lustre(goal, offer=offer).spec
    except ValueError as error:
        raise Refusal(scope, LUSTRE_SOLD(f"spec: {error}")) from None


def _spec_errors(spec: LustreSpec, maintenance: str | None, backup_days: int | None) -> list[Message]:
    # FSx gets tiers and versions before a release of this library has them: those are warnings.
    sold = LustreOffer()
    offer = replace(
        sold, tiers=(*sold.tiers, spec.mb_per_s_per_tib or 0), versions=(*sold.versions, spec.lustre_version)
    )
    errors = check_lustre(spec, offer=offer, backups=bool(backup_days))
    if maintenance is not None and known(maintenance) and not facts.MAINTENANCE.fullmatch(maintenance):
        text = f"maintenance must be d:HH:MM in UTC, such as 7:03:00 for Sunday, got {maintenance!r}"
        errors.append(_MAINTENANCE(text))
    if backup_days is not None and not 0 <= backup_days <= _MOST_BACKUP_DAYS:
        errors.append(LUSTRE_BACKUPS(f"backup_days must be 0 to {_MOST_BACKUP_DAYS}, got {backup_days}"))
    return errors


def _newer(spec: LustreSpec) -> Iterator[tuple[Rule, str]]:
    """Yield what is newer than the facts."""
    sold = LustreOffer()
    if spec.mb_per_s_per_tib is not None and spec.mb_per_s_per_tib not in sold.tiers:
        tiers = ", ".join(map(str, sold.tiers))
        yield _TIER, f"FSx supports the tiers {tiers} MB/s/TiB, got {spec.mb_per_s_per_tib}"
    if spec.lustre_version not in sold.versions:
        yield _VERSION, f"FSx runs Lustre {', '.join(sold.versions)}, got {spec.lustre_version}"


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
