"""Arguments of constructs, checked before a resource is created."""

from typing import cast

from aws_cdk import aws_s3 as s3

from ultracluster.storage._interfaces import IDataBucket


def unwrapped(bucket: s3.IBucket | IDataBucket) -> s3.IBucket:
    """Return the bucket of a construct that wraps one, or the bucket itself."""
    return cast(s3.IBucket, getattr(bucket, "bucket", bucket))
