"""A home file system of Amazon S3 Files, over a bucket."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3files as s3files
from constructs import Construct

from ultracluster.boot import Mount, Volume, s3_files_mount, s3_files_volume
from ultracluster.catalogue.storage import s3_files as limits
from ultracluster.planning import as_list, checked, checked_method, id_problem
from ultracluster.rules import Refusal, error, warning
from ultracluster.security import check_same_account, check_same_region
from ultracluster.storage._arguments import unwrapped
from ultracluster.storage._grants import Permission, grant
from ultracluster.storage._interfaces import IDataBucket, ISharedFileSystem
from ultracluster.storage._shared_file_system import SharedFileSystem
from ultracluster.storage.home._home import check_mount_targets, create_mount_targets, warn_of_import
from ultracluster.storage.home._metrics import S3FilesMetrics
from ultracluster.storage.home._s3_files_role import s3_files_role

_PREFIX = error("s3-files-prefix", "The home is a directory of the bucket, which ends in a slash.")
_BUCKET = error("s3-files-bucket", "S3 Files detects changes by the versions of the bucket.")
_LIMITS = warning("s3-files-limits", "S3 Files writes slowly, and lacks some features of a file system.")
_VERSIONING = warning("s3-files-versioning", "Synthesis cannot read whether an existing bucket has versioning.")


class S3FilesGrants:
    """Permissions to mount a file system of S3 Files.

    Large files are read from the bucket directly. IAM alone checks these reads: POSIX permissions do not apply.
    """

    def __init__(self, file_system: "_S3Files", bucket: s3.IBucket, bucket_key: kms.IKey | None) -> None:
        self._arn = cdk.Stack.of(file_system).format_arn(
            service="s3files", resource="file-system", resource_name=file_system.file_system_id
        )
        self._bucket = bucket
        self._key = bucket_key

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to mount it read-only."""
        return self._grant(grantee, "s3files:ClientMount")

    @checked_method
    def read_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to mount it, to write, and to be root."""
        return self._grant(grantee, "s3files:ClientMount", "s3files:ClientRootAccess", "s3files:ClientWrite")

    def _grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return grant(
            grantee,
            Permission(actions=actions, arn=self._arn),
            Permission(actions=("s3:GetObject", "s3:GetObjectVersion"), arn=self._bucket.arn_for_objects("*")),
            Permission(actions=("s3:ListBucket",), arn=self._bucket.bucket_arn),
            key=self._key,
            key_actions=("kms:Decrypt",),
        )


class _S3Files(SharedFileSystem):
    """A file system of S3 Files."""

    #: Permissions to mount it.
    grants: S3FilesGrants
    #: CloudWatch metrics.
    metrics: S3FilesMetrics

    def mount(self, path: str) -> Mount:
        """Return the mount of a Slurm node."""
        return s3_files_mount(file_system_id=self.file_system_id, path=path)

    def volume(self, name: str) -> Volume:
        """Return the volume of Kubernetes, with the CSI driver for EFS."""
        return s3_files_volume(name=name, file_system_id=self.file_system_id)


class S3FilesHome(_S3Files):
    """Home directories that are also a prefix of a bucket, for S3 tools; not for checkpoints.

    L1, because `aws_s3files` has no other constructs (aws-cdk-lib 2.275.0).

    CloudFormation replaces the file system if bucket, prefix, role or key change; the files remain in the bucket, but
    for the changes of the last minute. Role and file system are retained by default.

    Nodes need amazon-efs-utils 3.0 (`client_install`) and a role that may mount (`grants.read_write`).

    Args:
        vpc: The VPC of the subnets.
        subnets: Subnets of its mount targets, in one zone each: a node mounts in its own zone only.
        bucket: A bucket of the same account and region, with versioning. Its lifecycle must not move objects of
            the prefix to Glacier Flexible Retrieval or Deep Archive: those cannot be read through the file system.
        prefix: The directory of the bucket that is the home, ending in `/`.
        bucket_key: The KMS key of the bucket's objects. Default: S3 encrypts them with its own.
        key: Key of the fast storage. Default: a key that AWS owns.
        removal_policy: What happens to file system and role when they are removed from the template. Default: they are
            retained, unless the deployment that creates them fails.

    Raises:
        Refusal: If S3 Files would refuse the file system. All reasons at once.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: ec2.ISubnet | Sequence[ec2.ISubnet],
        bucket: s3.IBucket | IDataBucket,
        prefix: str = "home/",
        bucket_key: kms.IKey | None = None,
        key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        places, bucket = as_list(subnets), unwrapped(bucket)
        errors = [
            *check_mount_targets(vpc, places),
            *check_same_region(self, {"bucket": bucket, "bucket_key": bucket_key, "key": key}),
            *check_same_account(self, {"bucket": bucket}),
        ]
        if not prefix.endswith("/") or prefix.startswith("/") or "//" in prefix:
            errors.append(_PREFIX(f"prefix must end in / and not begin with one, such as home/, got {prefix!r}"))
        versioned = _versioned(bucket)
        if versioned is False:
            errors.append(_BUCKET("bucket must have versioning, by which S3 Files detects changes: versioned=True"))
        if errors:
            raise Refusal(self, errors)
        self._warn(versioned)
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="S3 Files mount targets", allow_all_outbound=False
        )
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
        file_system_id = self._resource.attr_file_system_id
        create_mount_targets(self, s3files.CfnMountTarget, file_system_id, places, self.security_group)
        referenced = (vpc, *places, bucket, bucket_key, key)
        self._set(file_system_id, S3FilesMetrics(file_system_id, self), self.security_group, *referenced)
        self.grants = S3FilesGrants(self, bucket, bucket_key)

    @staticmethod
    @checked
    def from_s3_files_home_attributes(
        scope: Construct,
        id: str,
        *,
        file_system_id: str,
        bucket: s3.IBucket | IDataBucket,
        bucket_key: kms.IKey | None = None,
        security_group: ec2.ISecurityGroup | None = None,
    ) -> ISharedFileSystem:
        """Import an existing file system of S3 Files, in the region of the stack.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            file_system_id: Such as `fs-0123456789abcdef0`.
            bucket: Its bucket.
            bucket_key: The KMS key of the bucket's objects. Default: S3 encrypts them with its own.
            security_group: Security group of its mount targets, to which rules for clients are added. Default: its
                owner adds them.

        Raises:
            Refusal: If the id is not that of a file system, bucket or key are in another region, or the bucket is in
                another account.
        """
        home = _S3Files(scope, id)
        problems = [*id_problem("file_system_id", file_system_id, "fs-")]
        problems += check_same_region(home, {"bucket": unwrapped(bucket), "bucket_key": bucket_key})
        problems += check_same_account(home, {"bucket": unwrapped(bucket)})
        if problems:
            raise Refusal(home, problems)
        home._set(file_system_id, S3FilesMetrics(file_system_id, home), security_group)
        home.grants = S3FilesGrants(home, unwrapped(bucket), bucket_key)
        warn_of_import(home, file_system_id, security_group, "that it has a mount target in the zone of each node")
        return home

    def _warn(self, versioned: bool | None) -> None:
        validations = cdk.Validations.of(self)
        validations.add_warning(
            _LIMITS.warning_id,
            f"S3 Files accepts {limits.WRITE_GIB_PER_S} GiB/s of writes from all clients together (5 in some Regions), "
            f"exports {limits.EXPORT_FILES_PER_S} files per second after {limits.EXPORT_AFTER_SECONDS} seconds, and "
            f"has no {', '.join(limits.UNSUPPORTED)}: keep checkpoints and package caches elsewhere",
        )
        if versioned is None:
            validations.add_warning(
                _VERSIONING.warning_id,
                "synthesis cannot read whether the bucket has versioning, which S3 Files requires: check it with aws "
                "s3api get-bucket-versioning --bucket NAME",
            )


def _versioned(bucket: s3.IBucket) -> bool | None:
    """Return whether a bucket has versioning; None for an imported bucket."""
    resource = bucket.node.default_child
    if resource is None or not s3.CfnBucket.is_cfn_bucket(resource):
        return None
    return cast(s3.CfnBucket, resource).versioning_configuration is not None
