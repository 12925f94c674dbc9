"""A home directory on Amazon S3 Files: a file system over a bucket."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3files as s3files
from constructs import Construct

from ultracluster.hardware.s3_files import EXPORT_AFTER_SECONDS, EXPORT_FILES_PER_S, UNSUPPORTED, WRITE_GIB_PER_S
from ultracluster.network import allow_nfs
from ultracluster.planning import Mount, Volume
from ultracluster.planning.home_mounts import s3_files_mount, s3_files_volume
from ultracluster.storage.checked import checked
from ultracluster.storage.mount_targets import check_subnets, target_id
from ultracluster.storage.s3_files_metrics import S3FilesMetrics
from ultracluster.storage.s3_files_role import s3_files_role
from ultracluster.storage.wildcards import acknowledge_wildcards

#: Id of the warning about what S3 Files is not good for.
S3_FILES_LIMITS = "ultracluster:s3-files-limits"
#: Id of the warning about a bucket whose versioning nobody can see.
S3_FILES_VERSIONING = "ultracluster:s3-files-versioning"


@jsii.implements(ec2.IConnectable)
class S3FilesHome(S3FilesMetrics):
    """Directories that are a prefix of a bucket too: for homes that S3 tools should see, not for checkpoints.

    L1, because `aws_s3files` has no other constructs (aws-cdk-lib 2.275.0).

    CloudFormation answers a change of bucket, prefix, role or key with a new file system; the files are in the bucket
    all the same, but for the changes of the last minute. Role and file system stay when the stack goes.

    Nodes need amazon-efs-utils 3.0 (`hardware.nfs_clients.client_install`) and a role that may mount (`grant_mount`).

    Args:
        vpc: The VPC of the subnets.
        subnets: Where its mount targets stand, in one zone each: a node mounts in its own zone only.
        bucket: A bucket of the same region, with versioning. Its lifecycle must not move objects of the prefix to
            Glacier Flexible Retrieval or Deep Archive: those cannot be read through the file system.
        prefix: The directory of the bucket that is the home, ending in `/`.
        bucket_key: The KMS key of the bucket's objects. Default: S3 encrypts them with its own.
        key: Key of the fast storage. Default: one that AWS owns.
        removal_policy: What becomes of file system and role when they leave the template. Default: they stay, unless
            the deployment that makes them fails.

    Raises:
        ValueError: When the pieces do not fit. All reasons at once.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        bucket: s3.IBucket,
        prefix: str = "home/",
        bucket_key: kms.IKey | None = None,
        key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        problems = check_subnets(subnets)
        if not prefix.endswith("/") or prefix.startswith("/") or "//" in prefix:
            problems.append(f"the prefix must end in / and not begin with one, such as home/, got {prefix!r}")
        versioned = _versioned(bucket)
        if versioned is False:
            problems.append("the bucket must have versioning: S3 Files tells changes by it; say versioned=True")
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        self._warn(versioned)
        self._bucket = bucket
        self._bucket_key = bucket_key
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="S3 Files mount targets", allow_all_outbound=False
        )
        self.connections = ec2.Connections(security_groups=[self.security_group], default_port=ec2.Port.NFS)
        role = s3_files_role(self, bucket=bucket, bucket_key=bucket_key, removal_policy=removal_policy)
        self._resource = s3files.CfnFileSystem(
            self,
            "Resource",
            bucket=bucket.bucket_arn,
            prefix=prefix,
            role_arn=role.role_arn,
            kms_key_id=None if key is None else key.key_arn,
        )
        self._resource.apply_removal_policy(removal_policy)
        for subnet in subnets:
            s3files.CfnMountTarget(
                self,
                target_id(subnet),
                file_system_id=self._resource.attr_file_system_id,
                subnet_id=subnet.subnet_id,
                security_groups=[self.security_group.security_group_id],
            )
        self.file_system_id = self._resource.attr_file_system_id

    def allow_clients(self, security_group: ec2.ISecurityGroup, *, id: str = "Clients") -> None:
        """Let the members of a group reach it. Their role has to be let in too: `grant_mount`.

        Args:
            security_group: The group of the clients.
            id: Prefix of the rules' ids. Give a name of its own to every group after the first.
        """
        allow_nfs(self, id, self.security_group, security_group)

    def grant_mount(self, role: iam.IRole) -> None:
        """Let a role mount it, write, be root, and read large files from the bucket directly.

        What is read directly is checked against IAM only: POSIX permissions do not hold there.
        """
        made = self.node.try_find_child("Mount")
        role.add_managed_policy(cast(iam.ManagedPolicy, made) if made else self._mount_policy())

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path."""
        return s3_files_mount(file_system_id=self.file_system_id, path=path)

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it, with the CSI driver for EFS."""
        return s3_files_volume(name=name, file_system_id=self.file_system_id)

    def _mount_policy(self) -> iam.ManagedPolicy:
        objects = self._bucket.arn_for_objects("*")
        file_system = cdk.Stack.of(self).format_arn(
            service="s3files", resource="file-system", resource_name=self.file_system_id
        )
        statements = [
            iam.PolicyStatement(
                sid="FileSystem",
                actions=["s3files:ClientMount", "s3files:ClientRootAccess", "s3files:ClientWrite"],
                resources=[file_system],
            ),
            iam.PolicyStatement(sid="Objects", actions=["s3:GetObject", "s3:GetObjectVersion"], resources=[objects]),
            iam.PolicyStatement(sid="Bucket", actions=["s3:ListBucket"], resources=[self._bucket.bucket_arn]),
        ]
        if self._bucket_key is not None:
            statements.append(
                iam.PolicyStatement(sid="Key", actions=["kms:Decrypt"], resources=[self._bucket_key.key_arn])
            )
        policy = iam.ManagedPolicy(self, "Mount", statements=statements)
        acknowledge_wildcards(
            policy, arns=[objects], reason="people name their own files, and S3 knows them by prefix only"
        )
        return policy

    def _warn(self, versioned: bool | None) -> None:
        validations = cdk.Validations.of(self)
        validations.add_warning(
            S3_FILES_LIMITS,
            f"S3 Files takes {WRITE_GIB_PER_S} GiB/s of writes from all clients together (5 in some regions), exports "
            f"{EXPORT_FILES_PER_S} files a second after {EXPORT_AFTER_SECONDS} seconds, and has no "
            f"{', '.join(UNSUPPORTED)}: keep checkpoints and package caches elsewhere",
        )
        if versioned is None:
            validations.add_warning(
                S3_FILES_VERSIONING,
                "nobody can see from here whether the bucket has versioning, without which S3 Files makes no file "
                "system: aws s3api get-bucket-versioning --bucket NAME",
            )


def _versioned(bucket: s3.IBucket) -> bool | None:
    """Say whether a bucket has versioning; None for one that was made elsewhere."""
    resource = bucket.node.default_child
    if resource is None or not s3.CfnBucket.is_cfn_bucket(resource):
        return None
    return cast(s3.CfnBucket, resource).versioning_configuration is not None
