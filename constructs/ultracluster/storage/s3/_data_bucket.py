"""An S3 bucket for datasets or checkpoints."""

from collections.abc import Sequence
from typing import get_args

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.planning import as_list, checked, known, perimeter_condition, perimeter_problems
from ultracluster.planning.s3 import (
    OLD_VERSIONS_DAYS,
    Purpose,
    Tier,
    TierClass,
    existing_bucket_problems,
    existing_bucket_warning,
)
from ultracluster.rules import Refusal, error, shared
from ultracluster.security import check_same_account, check_same_region, readable
from ultracluster.storage._arguments import unwrapped
from ultracluster.storage._interfaces import IDataBucket
from ultracluster.storage.s3._bucket import BucketGrants, BucketMetrics, ImportedBucket
from ultracluster.storage.s3._log_bucket import RETENTION, log_bucket
from ultracluster.storage.s3._private_bucket import keep_policy

_EXISTING = shared("existing-bucket")
_PURPOSE = error("bucket-purpose", "The purpose decides for how long a bucket keeps what is overwritten.")

# AWS bills parts of unfinished uploads and lists them nowhere; no upload of a job takes a week.
_ABORT_UPLOADS = cdk.Duration.days(7)


class DataBucket(cdk.Resource):
    """A versioned, encrypted, private bucket with access logs, retained when the stack is deleted.

    Current objects never expire, and move at most to classes that are read in milliseconds, so that a Lustre file
    system can be linked to it.

    Args:
        purpose: `dataset` or `checkpoints`: overwritten and deleted objects are kept for 30 days or for 14. For logs
            use a `LogBucket`.
        tier: A cheaper storage class for older objects, or its name. Default: all objects stay in S3 Standard.
        key: Key of the objects. Default: S3's own encryption.
        access_log_bucket: Bucket of the access logs, of the same account and region:
            https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html (read 2026-11-27). Default:
            a bucket beside this one.
        perimeter: Data perimeter: the id of an organization, or accounts beside that of the stack. All other principals
            are denied access, unless they are services of AWS. Default: IAM policies decide.
        bucket_name: Name, or `cdk.PhysicalName.GENERATE_IF_NEEDED` for grants to principals of other accounts and
            Regions in the same app. Default: CloudFormation chooses one.
        removal_policy: What happens to the bucket when it is removed from the template. Default: it is retained,
            unless the deployment that creates it fails.

    Raises:
        Refusal: If the purpose is unknown, the name is not valid, key or log bucket are in another region, the log
            bucket is in another account, or the perimeter is neither an organization nor accounts.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        purpose: Purpose = "checkpoints",
        tier: Tier | TierClass | None = None,
        key: kms.IKey | None = None,
        access_log_bucket: s3.IBucket | IDataBucket | None = None,
        perimeter: str | Sequence[str] | None = None,
        bucket_name: str | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        super().__init__(scope, id)
        given_logs = None if access_log_bucket is None else unwrapped(access_log_bucket)
        errors = check_same_region(scope, {"key": key, "access_log_bucket": given_logs})
        errors += check_same_account(scope, {"access_log_bucket": given_logs})
        if purpose not in OLD_VERSIONS_DAYS:
            text = f"purpose is {' or '.join(get_args(Purpose))}, got {purpose!r}; logs, which expire, need a LogBucket"
            errors.append(_PURPOSE(text))
        if bucket_name is not None and known(bucket_name):
            problems = existing_bucket_problems(bucket_name)
            errors += [problem.rule(f"bucket_name: {problem}") for problem in problems]
        members = None if perimeter is None else as_list(perimeter)
        errors += perimeter_problems(members or ())
        try:
            tier = Tier(storage_class=tier) if isinstance(tier, str) else tier
        except Refusal as refusal:
            errors += refusal.messages
        if errors:
            raise Refusal(self, errors)
        logs_bucket = given_logs or log_bucket(self, "AccessLogs", RETENTION, _kept_with_objects(removal_policy))
        bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption=s3.BucketEncryption.S3_MANAGED if key is None else s3.BucketEncryption.KMS,
            encryption_key=key,
            bucket_key_enabled=key is not None,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="OldVersionsAndUnfinishedUploads",
                    noncurrent_version_expiration=cdk.Duration.days(OLD_VERSIONS_DAYS[purpose]),
                    # A deleted object leaves a marker, which lists of its prefix read for ever:
                    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/ManagingDelMarkers.html (read 2026-11-28).
                    expired_object_delete_marker=True,
                    abort_incomplete_multipart_upload_after=_ABORT_UPLOADS,
                ),
                *([_tiering(tier)] if isinstance(tier, Tier) else []),
            ],
            server_access_logs_bucket=logs_bucket,
            server_access_logs_prefix=f"{self.node.path}/",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=removal_policy,
        )
        if members is not None:
            bucket.add_to_resource_policy(_outsiders(bucket, members))
        keep_policy(bucket, removal_policy)
        self.node.default_child = bucket.node.default_child
        #: The bucket.
        self.bucket: s3.Bucket = bucket
        #: Permissions for principals.
        self.grants = BucketGrants(bucket, key)
        #: CloudWatch metrics.
        self.metrics = BucketMetrics(bucket)

    @staticmethod
    @checked
    def from_data_bucket_attributes(
        scope: Construct, id: str, *, bucket_name: str, key: kms.IKey | None = None
    ) -> IDataBucket:
        """Import an existing general purpose bucket, in the region of the stack. Nothing of it is changed.

        Args:
            scope: Scope of the construct.
            id: Id of the construct.
            bucket_name: Its name.
            key: KMS key of its objects. Default: S3's own encryption, or a key that is not known; no key is then
                granted.

        Raises:
            Refusal: If the name is not valid for a general purpose bucket, or the key is in another region.
        """
        data = ImportedBucket(scope, id, bucket_name=bucket_name, key=key)
        message = existing_bucket_warning(bucket_name, None if key is None else key.key_arn, cdk.Stack.of(data).region)
        cdk.Validations.of(data).add_warning(_EXISTING.warning_id, readable(data, message))
        return data


def _kept_with_objects(removal_policy: cdk.RemovalPolicy) -> cdk.RemovalPolicy:
    """Return the policy of the access logs. S3 delivers some within hours, in which a first deployment may still fail.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerLogs.html (read 2026-11-27)
    """
    kept = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    return cdk.RemovalPolicy.RETAIN if removal_policy == kept else removal_policy


def _outsiders(bucket: s3.Bucket, members: Sequence[str]) -> iam.PolicyStatement:
    """Deny access to principals outside a perimeter; never to the account of the bucket, which could be locked out.

    See: https://github.com/aws-samples/data-perimeter-policy-examples (s3_bucket_policy.json, 8e0d3c5, read 2026-11-23)
    """
    account = cdk.Stack.of(bucket).account
    outside: dict[str, object] = {"aws:PrincipalAccount": account, **perimeter_condition(members, account, "Principal")}
    return iam.PolicyStatement(
        sid="Perimeter",
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=["s3:*"],
        resources=[bucket.bucket_arn, bucket.arn_for_objects("*")],
        conditions={
            "StringNotEqualsIfExists": outside,
            "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
        },
    )


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
