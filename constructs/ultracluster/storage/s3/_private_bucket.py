"""Private buckets that hold no training data."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

_RETAIN = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def private_bucket(
    scope: Construct,
    id: str,
    *,
    reason: str,
    bucket_name: str | None = None,
    versioned: bool = True,
    lifecycle_rules: Sequence[s3.LifecycleRule] | None = None,
    removal_policy: cdk.RemovalPolicy = _RETAIN,
) -> s3.Bucket:
    """Create an encrypted bucket without public access, without access logs, and with TLS only.

    Args:
        scope: Scope of the bucket.
        id: Id of the bucket.
        reason: Reason why it has no access logs.
        bucket_name: Name. Default: one of CloudFormation.
        versioned: Keep versions of objects. Default: yes.
        lifecycle_rules: Rules that expire objects. Default: none.
        removal_policy: Policy of the bucket and of its bucket policy. Default: both are retained, unless the deployment
            that creates them fails. S3 deletes no bucket with objects, so one that is written to during that
            deployment needs `RETAIN`: otherwise the stack ends in ROLLBACK_FAILED.
    """
    # Without object_ownership: without the flag serverAccessLogsUseBucketPolicy the CDK adds an ACL to a log bucket.
    bucket = s3.Bucket(
        scope,
        id,
        bucket_name=bucket_name,
        encryption=s3.BucketEncryption.S3_MANAGED,
        versioned=versioned,
        lifecycle_rules=lifecycle_rules,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        removal_policy=removal_policy,
    )
    keep_policy(bucket, removal_policy)
    cdk.Validations.of(bucket).acknowledge(cdk.Acknowledgment(id="AwsSolutions-S1", reason=reason))
    return bucket


def keep_policy(bucket: s3.Bucket, removal_policy: cdk.RemovalPolicy) -> None:
    """Retain the policy with the bucket: without it the bucket takes plain HTTP, and no access logs."""
    if bucket.policy is not None:
        bucket.policy.apply_removal_policy(removal_policy)
