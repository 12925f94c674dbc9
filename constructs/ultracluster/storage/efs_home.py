"""A home directory on Amazon EFS."""

from collections.abc import Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from ultracluster.hardware.efs import INFREQUENT_AFTER_DAYS, LIMITS, MOST_PROVISIONED_MIB_PER_S, EfsLimits
from ultracluster.network import allow_nfs
from ultracluster.planning import Mount, Volume
from ultracluster.planning.home_mounts import efs_mount, efs_volume
from ultracluster.storage.checked import checked
from ultracluster.storage.efs_metrics import EfsMetrics
from ultracluster.storage.mount_targets import check_subnets, target_id

# Root access: root of a node makes people's directories and gives them to their owners.
# https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html (read 2026-11-21)
_CLIENT_ACTIONS = [
    "elasticfilesystem:ClientMount",
    "elasticfilesystem:ClientRootAccess",
    "elasticfilesystem:ClientWrite",
]


@jsii.implements(ec2.IConnectable)
class EfsHome(EfsMetrics):
    """A file system that grows by itself: encrypted, backed up daily for 35 days, kept when the stack goes.

    L1, because `efs.FileSystem` names its mount targets by the ids of the subnets' constructs, which two subnets may
    share, and a second one of a name does not synthesise (aws-cdk-lib 2.275.0).

    Mount targets and security group are no data and go with the template: a file system that stays gets new ones in a
    minute. Another subnet or group never touches the files.

    Args:
        vpc: The VPC of the subnets.
        subnets: Where its mount targets stand, in one zone each; those of the nodes.
        one_zone: Whether the files are kept in the zone of the one subnet only, for less. Fixed for life.
        tls: Whether it takes clients over TLS only. Then nodes need amazon-efs-utils: AL2023 has a package of it,
            Ubuntu AWS's installer, AWS's sample images for PCS nothing; see `hardware.nfs_clients.client_install`.
            Without, the NFS client does, and the traffic is in clear.
        provisioned_mib_per_s: Throughput to pay for in MiB/s. Default: elastic, billed by what is read and written.
        infrequent_after_days: Days after which a file that nobody opens moves to the cheaper class, until the next
            access. None: never.
        key: Key of the data at rest. Default: the account's key for EFS.
        removal_policy: What becomes of the file system when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.

    Raises:
        ValueError: When the pieces do not fit. All reasons at once.

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
        subnets: Sequence[ec2.ISubnet],
        one_zone: bool = False,
        tls: bool = True,
        provisioned_mib_per_s: int | None = None,
        infrequent_after_days: int | None = 30,
        key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *check_subnets(subnets),
            *_check(one_zone, len(subnets), provisioned_mib_per_s, infrequent_after_days),
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        self._tls = tls
        #: What it gives at most with elastic throughput.
        self.limits: EfsLimits = LIMITS["one-zone" if one_zone else "regional"]
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="EFS mount targets", allow_all_outbound=False
        )
        self.connections = ec2.Connections(security_groups=[self.security_group], default_port=ec2.Port.NFS)
        self._resource = efs.CfnFileSystem(
            self,
            "Resource",
            encrypted=True,
            kms_key_id=None if key is None else key.key_arn,
            availability_zone_name=subnets[0].availability_zone if one_zone else None,
            # maxIO is slower for every single operation, and elastic throughput refuses it.
            performance_mode="generalPurpose",
            throughput_mode="elastic" if provisioned_mib_per_s is None else "provisioned",
            provisioned_throughput_in_mibps=provisioned_mib_per_s,
            backup_policy=efs.CfnFileSystem.BackupPolicyProperty(status="ENABLED"),
            lifecycle_policies=_lifecycle(infrequent_after_days),
            file_system_policy=_policy(tls),
        )
        self._resource.apply_removal_policy(removal_policy)
        for subnet in subnets:
            efs.CfnMountTarget(
                self,
                target_id(subnet),
                file_system_id=self._resource.ref,
                subnet_id=subnet.subnet_id,
                security_groups=[self.security_group.security_group_id],
            )
        self.file_system_id = self._resource.ref
        stack = cdk.Stack.of(self)
        #: DNS name, which leads to the mount target of the client's zone.
        self.dns_name = f"{self.file_system_id}.efs.{stack.region}.{stack.url_suffix}"

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group mount it.

        Args:
            security_group: The group of the clients.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.
        """
        allow_nfs(self, id, self.security_group, security_group)

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path, with the client that `tls` asks for."""
        return efs_mount(file_system_id=self.file_system_id, dns_name=self.dns_name, path=path, tls=self._tls)

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it, with the CSI driver for EFS."""
        return efs_volume(name=name, file_system_id=self.file_system_id, tls=self._tls)


def _policy(tls: bool) -> iam.PolicyDocument:
    """Who reaches a mount target may use it, over TLS or not at all; whoever reaches it, the security group says."""
    # https://docs.aws.amazon.com/efs/latest/ug/access-control-block-public-access.html (read 2026-11-21): with this
    # condition the policy is not public. Without a statement that allows, a policy lets nobody in.
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
) -> list[str]:
    problems = []
    if one_zone and subnets > 1:
        problems.append(f"a file system of one zone has one mount target: give one subnet, got {subnets}")
    if provisioned_mib_per_s is not None and not 1 <= provisioned_mib_per_s <= MOST_PROVISIONED_MIB_PER_S:
        problems.append(
            f"provisioned_mib_per_s must be 1 to {MOST_PROVISIONED_MIB_PER_S:,}, got {provisioned_mib_per_s:,}; "
            "leave it out for elastic throughput"
        )
    if infrequent_after_days is not None and infrequent_after_days not in INFREQUENT_AFTER_DAYS:
        allowed = ", ".join(map(str, INFREQUENT_AFTER_DAYS))
        problems.append(f"infrequent_after_days must be one of {allowed}, or None, got {infrequent_after_days}")
    return problems
