"""An S3 bucket for datasets or checkpoints."""

from typing import cast, get_args

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.planning.linked_bucket import OLD_VERSIONS_DAYS, Purpose, Tier
from ultracluster.security.shown import wildcard_finding
from ultracluster.storage.checked import checked
from ultracluster.storage.log_bucket import RETENTION, keep_policy, log_bucket

READ_OBJECTS = ("s3:GetObject",)
READ_WRITE_OBJECTS = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
)
LIST_BUCKET = ("s3:GetBucketLocation", "s3:ListBucket")
READ_BUCKET = (*LIST_BUCKET, "s3:ListBucketMultipartUploads")
DECRYPT = ("kms:Decrypt",)
USE_KEY = (*DECRYPT, "kms:GenerateDataKey")

# Parts of an upload that nobody finished are paid for and shown nowhere; no upload of ours takes a week.
_ABORT_UPLOADS = cdk.Duration.days(7)


class DataBucket(Construct):
    """A versioned, encrypted, private bucket whose access is logged, and which stays when the stack goes.

    What is current in it never expires, and moves at most to classes that are read in milliseconds, so that a Lustre
    file system may be linked to it.

    Args:
        purpose: `dataset` or `checkpoints`; says how long what was overwritten or deleted can be had back: 30 days or
            14. Logs take a `LogBucket`.
        tier: A cheaper storage class for what has lain for a while. Default: everything stays in S3 Standard.
        key: Key of the objects. Default: S3's own encryption.
        access_log_bucket: Where access logs go. Default: a bucket beside this one.
        removal_policy: What becomes of the bucket when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.

    Raises:
        ValueError: When the purpose is another.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        purpose: Purpose = "checkpoints",
        tier: Tier | None = None,
        key: kms.IKey | None = None,
        access_log_bucket: s3.IBucket | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        if purpose not in OLD_VERSIONS_DAYS:
            raise ValueError(
                f"{self.node.path}: purpose is {' or '.join(get_args(Purpose))}, got {purpose!r}; "
                "logs, which expire, take a LogBucket"
            )
        logs_bucket = access_log_bucket or log_bucket(self, "AccessLogs", RETENTION, removal_policy)
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
                    noncurrent_version_expiration=cdk.Duration.days(OLD_VERSIONS_DAYS[purpose]),
                    abort_incomplete_multipart_upload_after=_ABORT_UPLOADS,
                ),
                *([] if tier is None else [_tiering(tier)]),
            ],
            server_access_logs_bucket=logs_bucket,
            server_access_logs_prefix=f"{self.node.path}/",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=removal_policy,
        )
        keep_policy(bucket, removal_policy)
        #: The bucket.
        self.bucket: s3.IBucket = bucket
        #: Who may use it.
        self.grants = DataBucketGrants(self, self.bucket, key)


def _tiering(tier: Tier) -> s3.LifecycleRule:
    return s3.LifecycleRule(
        id="Tier",
        transitions=[
            s3.Transition(
                storage_class=s3.StorageClass(tier.storage_class),
                transition_after=cdk.Duration.days(tier.after_days),
            )
        ],
    )


class DataBucketGrants:
    """Who may use a data bucket."""

    def __init__(self, scope: Construct, bucket: s3.IBucket, key: kms.IKey | None) -> None:
        self._scope = scope
        self._bucket = bucket
        self._key = key

    def read(self, role: iam.IRole) -> None:
        """Let a role list the bucket and read its objects."""
        role.add_managed_policy(self._policy("Read", READ_OBJECTS, LIST_BUCKET, DECRYPT))

    def read_write(self, role: iam.IRole) -> None:
        """Let a role list the bucket and read, write and delete its objects."""
        role.add_managed_policy(self._policy("ReadWrite", READ_WRITE_OBJECTS, READ_BUCKET, USE_KEY))

    def _policy(
        self, id: str, on_objects: tuple[str, ...], on_bucket: tuple[str, ...], on_key: tuple[str, ...]
    ) -> iam.IManagedPolicy:
        # A managed policy beside the bucket, so that a role in another stack needs one reference only.
        made = self._scope.node.try_find_child(id)
        if made is not None:
            return cast(iam.ManagedPolicy, made)
        statements = [
            iam.PolicyStatement(sid="Objects", actions=list(on_objects), resources=[self._bucket.arn_for_objects("*")]),
            iam.PolicyStatement(sid="Bucket", actions=list(on_bucket), resources=[self._bucket.bucket_arn]),
        ]
        if self._key is not None:
            statements.append(iam.PolicyStatement(sid="Key", actions=list(on_key), resources=[self._key.key_arn]))
        policy = iam.ManagedPolicy(self._scope, id, statements=statements)
        cdk.Validations.of(policy).acknowledge(
            cdk.Acknowledgment(
                id=wildcard_finding(policy, self._bucket.arn_for_objects("*")),
                reason="jobs name their own objects: S3 knows them by prefix only, and the whole bucket is theirs",
            )
        )
        return policy
