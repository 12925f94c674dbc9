"""An S3 bucket for logs."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.planning import checked
from ultracluster.rules import Refusal, error
from ultracluster.storage._interfaces import IDataBucket
from ultracluster.storage.s3._bucket import BucketGrants, BucketMetrics, ImportedBucket
from ultracluster.storage.s3._private_bucket import private_bucket

# A year covers an annual audit; a choice, not a limit of the service.
RETENTION = cdk.Duration.days(365)
# Time in which a log that was deleted can be restored; a choice, as above.
_RESTORE = cdk.Duration.days(30)
_RETENTION = error("log-retention", "S3 deletes logs after whole days.")


class LogBucket(cdk.Resource):
    """A private, encrypted bucket whose objects expire, retained when the stack is deleted.

    It is versioned: a log that is deleted can be restored for 30 days. S3's own keys encrypt it, because S3 writes
    access logs to no bucket with a KMS key as its default. See
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html (read 2026-11-21).
    Never link a file system to it: expired objects are lost on both sides.

    Args:
        retention: How long a log is kept, in whole days.
        removal_policy: What happens to the bucket when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

    Raises:
        Refusal: If the retention is not in whole days.
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
            raise Refusal(self, _RETENTION(f"retention must be 1 day or more, in whole days, got {days:g} days"))
        #: The bucket.
        self.bucket: s3.Bucket = log_bucket(self, "Bucket", retention, removal_policy)
        self.node.default_child = self.bucket.node.default_child
        #: Permissions for principals.
        self.grants = BucketGrants(self.bucket, None)
        #: CloudWatch metrics.
        self.metrics = BucketMetrics(self.bucket)

    @staticmethod
    @checked
    def from_log_bucket_attributes(scope: Construct, id: str, *, bucket_name: str) -> IDataBucket:
        """Import an existing bucket for logs, in the region of the stack. Nothing of it is changed.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            bucket_name: Its name. Its policy must allow the service that writes the logs.

        Raises:
            Refusal: If the name is not valid for a general purpose bucket.
        """
        return ImportedBucket(scope, id, bucket_name=bucket_name, key=None)


def log_bucket(scope: Construct, id: str, retention: cdk.Duration, removal_policy: cdk.RemovalPolicy) -> s3.Bucket:
    """Create the bucket."""
    return private_bucket(
        scope,
        id,
        reason="S3 access logs of a log bucket would log themselves",
        # S3 also removes the delete marker that remains in the end: https://docs.aws.amazon.com/AmazonS3/latest/userguide/
        # lifecycle-expire-general-considerations.html (read 2026-11-25)
        lifecycle_rules=[s3.LifecycleRule(id="Expire", expiration=retention, noncurrent_version_expiration=_RESTORE)],
        removal_policy=removal_policy,
    )
