"""Permissions and metrics of general purpose buckets."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.cloudwatch import MetricEnvironment
from ultracluster.planning import checked_method, known
from ultracluster.planning.s3 import existing_bucket_problems
from ultracluster.rules import Refusal
from ultracluster.security import check_same_region
from ultracluster.storage._grants import Permission, grant

_LIST = ("s3:GetBucketLocation", "s3:ListBucket")
_READ_WRITE_KEY = ("kms:Decrypt", "kms:GenerateDataKey")
_LIST_UPLOADS = (*_LIST, "s3:ListBucketMultipartUploads")
_READ_WRITE = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
)


class BucketGrants:
    """Permissions on a bucket, its objects and its key."""

    def __init__(self, bucket: s3.IBucket, key: kms.IKey | None) -> None:
        self._bucket = bucket
        self._key = key

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list the bucket and to read its objects."""
        return self._grant(grantee, ("s3:GetObject",), _LIST, ("kms:Decrypt",))

    @checked_method
    def read_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list the bucket, and to read, write and delete its objects."""
        return self._grant(grantee, _READ_WRITE, _LIST_UPLOADS, _READ_WRITE_KEY)

    @checked_method
    def read_write_objects(self, grantee: iam.IGrantable, prefix: str = "") -> iam.Grant:
        """Allow to read and write objects; neither to list nor to delete them.

        Args:
            grantee: The principal.
            prefix: Prefix of the keys, such as `results/`. Default: all objects.

        Raises:
            Refusal: If the prefix has a wildcard of IAM, which would allow other keys.
        """
        if any(wildcard in prefix for wildcard in "*?"):
            raise Refusal(self._bucket, f"prefix must be a prefix of keys, without * and ?, got {prefix[:80]!r}")
        return grant(
            grantee,
            Permission(actions=("s3:GetObject", "s3:PutObject"), arn=self._bucket.arn_for_objects(f"{prefix}*")),
            resource=self._bucket,
            key=self._key,
            key_actions=_READ_WRITE_KEY,
        )

    def _grant(
        self,
        grantee: iam.IGrantable,
        on_objects: tuple[str, ...],
        on_bucket: tuple[str, ...],
        on_key: tuple[str, ...],
    ) -> iam.Grant:
        return grant(
            grantee,
            Permission(actions=on_objects, arn=self._bucket.arn_for_objects("*")),
            Permission(actions=on_bucket, arn=self._bucket.bucket_arn),
            resource=self._bucket,
            key=self._key,
            key_actions=on_key,
        )


class BucketMetrics:
    """Daily storage metrics of a bucket.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html (read 2026-11-22)
    """

    def __init__(self, bucket: s3.IBucket) -> None:
        self._bucket = bucket

    @checked_method
    def metric_size(self, storage_type: str = "StandardStorage") -> cloudwatch.Metric:
        """Bytes in one storage type, old versions included.

        Args:
            storage_type: Storage type, such as `StandardStorage` or `IntelligentTieringFAStorage`.
        """
        return self._metric("BucketSizeBytes", storage_type)

    def metric_objects(self) -> cloudwatch.Metric:
        """Number of objects in all storage classes, old versions included."""
        return self._metric("NumberOfObjects", "AllStorageTypes")

    def _metric(self, name: str, storage_type: str) -> cloudwatch.Metric:
        environment = MetricEnvironment.of(self._bucket)
        return cloudwatch.Metric(
            namespace="AWS/S3",
            metric_name=name,
            dimensions_map={"BucketName": self._bucket.bucket_name, "StorageType": storage_type},
            statistic="Average",
            period=cdk.Duration.days(1),
            region=environment.region,
            account=environment.account,
        )


class ImportedBucket(cdk.Resource):
    """An existing general purpose bucket.

    Raises:
        Refusal: If the name is not valid for a general purpose bucket, or the key is in another region.
    """

    def __init__(self, scope: Construct, id: str, *, bucket_name: str, key: kms.IKey | None) -> None:
        super().__init__(scope, id)
        problems = existing_bucket_problems(bucket_name) if known(bucket_name) else []
        errors = [problem.rule(f"bucket_name: {problem}") for problem in problems]
        errors += check_same_region(self, {"key": key})
        if errors:
            raise Refusal(self, errors)
        self.bucket: s3.IBucket = s3.Bucket.from_bucket_attributes(
            self, "Bucket", bucket_name=bucket_name, encryption_key=key
        )
        self.grants = BucketGrants(self.bucket, key)
        self.metrics = BucketMetrics(self.bucket)
