"""A bucket of datasets or checkpoints that is there already."""

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.planning.existing_bucket import existing_bucket_problems, existing_bucket_warning
from ultracluster.security.shown import shown
from ultracluster.storage.checked import checked
from ultracluster.storage.data_bucket import DataBucketGrants

#: Id of the warning about what this library can't do to a bucket of yours.
EXISTING_BUCKET = "ultracluster:existing-bucket"


class ExistingBucket(Construct):
    """A general purpose bucket of yours, in the region of the stack. It is used, and never changed.

    Args:
        bucket_name: Its name.
        key: KMS key of its objects. Default: S3's own encryption, or a key that is not known; then nodes get no key.

    Raises:
        ValueError: When the name is none of a general purpose bucket.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, bucket_name: str, key: kms.IKey | None = None) -> None:
        super().__init__(scope, id)
        problems = [] if cdk.Token.is_unresolved(bucket_name) else existing_bucket_problems(bucket_name)
        if problems:
            raise ValueError(f"{self.node.path}: {problems[0]}")
        #: The bucket.
        self.bucket: s3.IBucket = s3.Bucket.from_bucket_attributes(
            self, "Bucket", bucket_name=bucket_name, encryption_key=key
        )
        #: Who may use it: the same as of a `DataBucket`.
        self.grants = DataBucketGrants(self, self.bucket, key)
        words = existing_bucket_warning(bucket_name, None if key is None else key.key_arn, cdk.Stack.of(self).region)
        cdk.Validations.of(self).add_warning(EXISTING_BUCKET, shown(self, words))
