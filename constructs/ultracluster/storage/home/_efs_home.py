"""A home file system of Amazon EFS."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.boot import Mount, Volume, efs_mount, efs_volume
from ultracluster.catalogue.storage import efs as facts
from ultracluster.planning import as_list, checked, id_problem
from ultracluster.rules import Message, Refusal, error
from ultracluster.security import check_same_region
from ultracluster.storage._interfaces import ISharedFileSystem
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.home._home import check_mount_targets, create_mount_targets, warn_of_import
from ultracluster.storage.home._metrics import EfsMetrics

_CONFIGURATION = error(
    "efs-configuration", "EFS supports provisioned throughput within a range, and fixed days of its lifecycle."
)

# Root access: root of a node creates home directories and changes their owners.
# https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html (read 2026-11-21)
_CLIENT_ACTIONS = [
    "elasticfilesystem:ClientMount",
    "elasticfilesystem:ClientRootAccess",
    "elasticfilesystem:ClientWrite",
]


class _Efs(SharedFileSystem):
    """A file system of EFS."""

    #: CloudWatch metrics.
    metrics: EfsMetrics
    _tls: bool

    @property
    def dns_name(self) -> str:
        """DNS name, which resolves to the mount target in the client's zone."""
        stack = cdk.Stack.of(self)
        return f"{self.file_system_id}.efs.{stack.region}.{stack.url_suffix}"

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node, with the client that `tls` requires."""
        return efs_mount(file_system_id=self.file_system_id, dns_name=self.dns_name, path=path, tls=self._tls)

    def volume(self, name: str) -> Volume:
        """Return the volume of Kubernetes, with the CSI driver for EFS."""
        return efs_volume(name=name, file_system_id=self.file_system_id, tls=self._tls)


class EfsHome(_Efs):
    """A file system without a size limit: encrypted, backed up daily for 35 days, retained by default.

    L1, because `efs.FileSystem` names its mount targets by the ids of the subnets' constructs, which two subnets may
    share, and a second one of a name does not synthesize (aws-cdk-lib 2.275.0).

    Mount targets and security group hold no data and are deleted with the stack. Another subnet or group never touches
    the files.

    Args:
        vpc: The VPC of the subnets.
        subnets: Subnets of its mount targets, in one zone each; those of the nodes.
        one_zone: Whether the files are kept in the zone of the one subnet only, at a lower price. It cannot change.
        tls: Whether it takes clients over TLS only. Nodes then need amazon-efs-utils: AL2023 has a package of it,
            Ubuntu AWS's installer, AWS's sample images for PCS neither; see `client_install`. Without TLS, the NFS
            client suffices, and the traffic is not encrypted.
        provisioned_mib_per_s: Provisioned throughput in MiB/s. Default: elastic, billed by reads and writes.
        infrequent_after_days: Days without access after which a file moves to the cheaper class, until the next
            access, or None.
        key: Key of the data at rest. Default: the account's key for EFS.
        removal_policy: What happens to the file system when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

    Raises:
        Refusal: If EFS would refuse the file system. All reasons at once.

    See: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-efs-filesystem.html
        (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: ec2.ISubnet | Sequence[ec2.ISubnet],
        one_zone: bool = False,
        tls: bool = True,
        provisioned_mib_per_s: int | None = None,
        infrequent_after_days: int | None = 30,
        key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        places = as_list(subnets)
        errors = [
            *check_mount_targets(vpc, places),
            *_check(one_zone, len(places), provisioned_mib_per_s, infrequent_after_days),
            *check_same_region(self, {"key": key}),
        ]
        if errors:
            raise Refusal(self, errors)
        #: Its limits with elastic throughput.
        self.limits: facts.EfsLimits = facts.LIMITS["one-zone" if one_zone else "regional"]
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="EFS mount targets", allow_all_outbound=False
        )
        self._resource = efs.CfnFileSystem(
            self,
            "Resource",
            encrypted=True,
            kms_key_id=None if key is None else key.key_arn,
            availability_zone_name=places[0].availability_zone if one_zone else None,
            # maxIO is slower for every single operation, and elastic throughput refuses it.
            performance_mode="generalPurpose",
            throughput_mode="elastic" if provisioned_mib_per_s is None else "provisioned",
            provisioned_throughput_in_mibps=provisioned_mib_per_s,
            backup_policy=efs.CfnFileSystem.BackupPolicyProperty(status="ENABLED"),
            lifecycle_policies=_lifecycle(infrequent_after_days),
            file_system_policy=_policy(tls),
        )
        self._resource.apply_removal_policy(removal_policy)
        create_mount_targets(self, efs.CfnMountTarget, self._resource.ref, places, self.security_group)
        self._tls = tls
        self._set(self._resource.ref, EfsMetrics(self._resource.ref, self), self.security_group, vpc, *places, key)

    @staticmethod
    @checked
    def from_efs_home_attributes(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        tls: bool = True,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ISharedFileSystem:
        """Import an existing file system of EFS, in the region of the stack.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            file_system_id: Such as `fs-0123456789abcdef0`.
            tls: Whether nodes mount it over TLS; see `EfsHome`.
            security_group: Security group of its mount targets, to which rules for clients are added. Default: its
                owner adds them.

        Raises:
            Refusal: If the id is not that of a file system.
        """
        home = _Efs(scope, id)
        if problems := list(id_problem("file_system_id", file_system_id, "fs-")):
            raise Refusal(home, problems)
        home._tls = tls
        home._set(file_system_id, EfsMetrics(file_system_id, home), security_group)
        unseen = "that it has a mount target in the zone of each node, and a policy that allows the nodes"
        warn_of_import(home, file_system_id, security_group, unseen)
        return home


def _policy(tls: bool) -> iam.PolicyDocument:
    """Return the policy that allows all clients of a mount target, over TLS only if required."""
    # https://docs.aws.amazon.com/efs/latest/ug/access-control-block-public-access.html (read 2026-11-21): with this
    # condition the policy is not public. A policy without an Allow statement denies all clients.
    allow = iam.PolicyStatement(
        sid="ThroughMountTargets",
        principals=[iam.AnyPrincipal()],
        actions=_CLIENT_ACTIONS,
        conditions={"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    )
    deny = iam.PolicyStatement(
        sid="OverTlsOnly",
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=_CLIENT_ACTIONS,
        conditions={"Bool": {"aws:SecureTransport": "false"}},
    )
    return iam.PolicyDocument(statements=[allow, deny] if tls else [allow])


def _lifecycle(infrequent_after_days: int | None) -> list[efs.CfnFileSystem.LifecyclePolicyProperty] | None:
    if infrequent_after_days is None:
        return None
    unit = "DAY" if infrequent_after_days == 1 else "DAYS"
    # One transition in each: EFS refuses two in one.
    return [
        efs.CfnFileSystem.LifecyclePolicyProperty(transition_to_ia=f"AFTER_{infrequent_after_days}_{unit}"),
        efs.CfnFileSystem.LifecyclePolicyProperty(transition_to_primary_storage_class="AFTER_1_ACCESS"),
    ]


def _check(
    one_zone: bool, subnets: int, provisioned_mib_per_s: int | None, infrequent_after_days: int | None
) -> list[Message]:
    problems = []
    if one_zone and subnets > 1:
        text = f"a file system of one zone has one mount target: give one subnet, got {subnets}"
        problems.append(_CONFIGURATION(text))
    if provisioned_mib_per_s is not None and not 1 <= provisioned_mib_per_s <= facts.MOST_PROVISIONED_MIB_PER_S:
        most = facts.MOST_PROVISIONED_MIB_PER_S
        text = f"provisioned_mib_per_s must be 1 to {most:,}, got {provisioned_mib_per_s:,}"
        problems.append(_CONFIGURATION(f"{text}; leave it out for elastic throughput"))
    if infrequent_after_days is not None and infrequent_after_days not in facts.INFREQUENT_AFTER_DAYS:
        allowed = ", ".join(map(str, facts.INFREQUENT_AFTER_DAYS))
        text = f"infrequent_after_days must be one of {allowed}, or None, got {infrequent_after_days}"
        problems.append(_CONFIGURATION(text))
    return problems
