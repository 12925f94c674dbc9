"""An S3 bucket for datasets and checkpoints."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

READ_WRITE_OBJECTS = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
)
READ_BUCKET = ("s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads")
USE_KEY = ("kms:Decrypt", "kms:GenerateDataKey")

# Long enough to notice a mistake on the Monday after a holiday; a choice, not a limit of the service.
_KEEP_OLD_VERSIONS = cdk.Duration.days(14)
_ABORT_UPLOADS = cdk.Duration.days(7)


class DataBucket(Construct):
    """A versioned, encrypted, private bucket whose access is logged, and which stays when the stack goes.

    Args:
        key: Key of the objects. Default: S3's own encryption.
        access_log_bucket: Where access logs go. Default: a bucket beside this one.
        removal_policy: What becomes of the bucket when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        key: kms.IKey | None = None,
        access_log_bucket: s3.IBucket | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        self._key = key
        logs_bucket = access_log_bucket or self._access_log_bucket(removal_policy)
        bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED if key is None else s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=key is not None,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="OldVersionsAndUnfinishedUploads",
                    noncurrent_version_expiration=_KEEP_OLD_VERSIONS,
                    abort_incomplete_multipart_upload_after=_ABORT_UPLOADS,
                )
            ],
            server_access_logs_bucket=logs_bucket,
            server_access_logs_prefix=f"{self.node.path}/",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=removal_policy,
        )
        _keep_policy(bucket, removal_policy)
        self.bucket: s3.IBucket = bucket
        self.grants = DataBucketGrants(self, self.bucket, key)

    def _access_log_bucket(self, removal_policy: cdk.RemovalPolicy) -> s3.IBucket:
        # Without object_ownership: an app that has not set the flag serverAccessLogsUseBucketPolicy gets an ACL here.
        bucket = s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,
            lifecycle_rules=[s3.LifecycleRule(id="Expire", expiration=cdk.Duration.days(365))],
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=removal_policy,
        )
        _keep_policy(bucket, removal_policy)
        cdk.Validations.of(bucket).acknowledge(
            cdk.Acknowledgment(id="AwsSolutions-S1", reason="S3 access logs of a log bucket would log themselves")
        )
        return bucket


def _keep_policy(bucket: s3.Bucket, removal_policy: cdk.RemovalPolicy) -> None:
    """A bucket that stays keeps its policy: without it, it would take plain HTTP, and no access logs."""
    if bucket.policy is not None:
        bucket.policy.apply_removal_policy(removal_policy)


class DataBucketGrants:
    """Who may use a data bucket."""

    def __init__(self, scope: Construct, bucket: s3.IBucket, key: kms.IKey | None) -> None:
        self._scope = scope
        self._bucket = bucket
        self._key = key

    def read_write(self, role: iam.IRole) -> None:
        """Let a role list the bucket and read, write and delete its objects."""
        role.add_managed_policy(self._read_write_policy())

    def _read_write_policy(self) -> iam.IManagedPolicy:
        # A managed policy beside the bucket, so that a role in another stack needs one reference only.
        made = self._scope.node.try_find_child("ReadWrite")
        if made is not None:
            return cast(iam.ManagedPolicy, made)
        statements = [
            iam.PolicyStatement(
                sid="Objects", actions=list(READ_WRITE_OBJECTS), resources=[self._bucket.arn_for_objects("*")]
            ),
            iam.PolicyStatement(sid="Bucket", actions=list(READ_BUCKET), resources=[self._bucket.bucket_arn]),
        ]
        if self._key is not None:
            statements.append(iam.PolicyStatement(sid="Key", actions=list(USE_KEY), resources=[self._key.key_arn]))
        policy = iam.ManagedPolicy(self._scope, "ReadWrite", statements=statements)
        resource = cast(s3.CfnBucket, self._bucket.node.default_child)
        logical_id = cdk.Stack.of(resource).get_logical_id(resource)
        cdk.Validations.of(policy).acknowledge(
            cdk.Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>/*]",
                reason="jobs name their own objects: S3 knows them by prefix only, and the whole bucket is theirs",
            )
        )
        return policy
