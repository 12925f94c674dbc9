"""An S3 bucket for logs."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.storage.checked import checked

# A year covers an annual audit; a choice, not a limit of the service.
RETENTION = cdk.Duration.days(365)


class LogBucket(Construct):
    """A private, encrypted bucket whose objects expire, and which stays when the stack goes.

    It takes S3 access logs, so S3's own keys encrypt it: access logs go to no bucket with a KMS key as its default. See
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html (read 2026-11-21).
    Never link a file system to it: what expires there is lost on both sides.

    Args:
        retention: How long a log is kept, in whole days.
        removal_policy: What becomes of the bucket when it leaves the template. Default: it stays, unless the
            deployment that makes it fails.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        retention: cdk.Duration = RETENTION,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        days = retention.to_days(integral=False)
        if days < 1 or days % 1:
            raise ValueError(f"{self.node.path}: retention must be 1 day or more, in whole days, got {days:g} days")
        #: The bucket.
        self.bucket: s3.IBucket = log_bucket(self, "Bucket", retention, removal_policy)


def log_bucket(scope: Construct, id: str, retention: cdk.Duration, removal_policy: cdk.RemovalPolicy) -> s3.Bucket:
    """The bucket itself, for constructs that have one among other things."""
    # Without object_ownership: an app that has not set the flag serverAccessLogsUseBucketPolicy gets an ACL here.
    bucket = s3.Bucket(
        scope,
        id,
        encryption=s3.BucketEncryption.S3_MANAGED,
        lifecycle_rules=[s3.LifecycleRule(id="Expire", expiration=retention)],
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        removal_policy=removal_policy,
    )
    keep_policy(bucket, removal_policy)
    cdk.Validations.of(bucket).acknowledge(
        cdk.Acknowledgment(id="AwsSolutions-S1", reason="S3 access logs of a log bucket would log themselves")
    )
    return bucket


def keep_policy(bucket: s3.Bucket, removal_policy: cdk.RemovalPolicy) -> None:
    """A bucket that stays keeps its policy: without it, it would take plain HTTP, and no access logs."""
    if bucket.policy is not None:
        bucket.policy.apply_removal_policy(removal_policy)
