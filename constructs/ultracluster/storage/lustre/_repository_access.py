"""Permissions that FSx for Lustre needs on a bucket and its key."""

import json

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.catalogue.ec2 import via_service
from ultracluster.planning import account_of, region_of
from ultracluster.planning.s3 import ROLE_PREFIX
from ultracluster.rules import shared
from ultracluster.security import check_same_account, readable

FOREIGN_BUCKET = shared("association-foreign-bucket")
FOREIGN_KEY = shared("association-foreign-key")

# What FSx lists for the role, on the bucket and on its objects. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html (read 2026-11-21).
BUCKET_ACTIONS = (
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:Get*",
    "s3:List*",
    "s3:PutBucketNotification",
    "s3:PutObject",
)

# See https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html (read 2026-11-21).
KEY_ACTIONS = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")


def allow_fsx(scope: Construct, bucket: s3.IBucket, file_system_id: str) -> None:
    """Allow FSx to use a bucket and its key, and warn of permissions that only their owner can add.

    In the bucket's account, the bucket policy needs no statement: there the role has its own permissions on S3. FSx
    adds them if the deploying principal may call iam:AttachRolePolicy and iam:PutRolePolicy, as the CDK's deployment
    role may.
    See https://docs.aws.amazon.com/fsx/latest/LustreGuide/setting-up.html (read 2026-11-21).
    """
    role = _role_arn(scope, file_system_id)
    on_key = _key_statement(scope, bucket, role)
    key = bucket.encryption_key
    if not cdk.Resource.is_owned_resource(bucket):
        _warn_of_bucket(scope, bucket, role, on_key)
    elif check_same_account(scope, {"bucket": bucket}):
        bucket.add_to_resource_policy(_bucket_statement(scope, bucket, role))
    if key is not None and not key.add_to_resource_policy(on_key, True).statement_added:
        cdk.Validations.of(scope).add_warning(
            FOREIGN_KEY.warning_id,
            f"the key {readable(scope, key.key_arn)} is not created in this app: its owner must add to its policy the "
            f"statement {_statement(scope, on_key)}",
        )


def _role_arn(scope: Construct, file_system_id: str) -> str:
    # FSx creates a role for each file system with its first association; IAM refuses a policy that names a principal
    # before it exists. The id of a file system of the app is a token; a reference to it would close a circle where one
    # key encrypts both the bucket and the file system.
    known = not cdk.Token.is_unresolved(file_system_id)
    return cdk.Stack.of(scope).format_arn(
        service="iam",
        region="",
        resource="role",
        resource_name="aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/"
        f"{ROLE_PREFIX}{file_system_id if known else 'fs-*'}",
    )


def _key_statement(scope: Construct, bucket: s3.IBucket, role: str) -> iam.PolicyStatement:
    stack = cdk.Stack.of(scope)
    conditions: dict[str, dict[str, object]] = {
        "StringEquals": {
            "kms:CallerAccount": account_of(stack),
            "kms:ViaService": via_service("s3", region_of(bucket)),
        },
        "ArnLike": {"aws:PrincipalArn": role},
    }
    name = _fixed_name(bucket)
    if name is not None:
        # The encryption context is the ARN of the bucket with a bucket key, and the ARN of the object without; a
        # bucket whose bucket key was enabled later has both.
        arn = stack.format_arn(service="s3", region="", account="", resource=name)
        conditions["StringLike"] = {"kms:EncryptionContext:aws:s3:arn": [arn, f"{arn}/*"]}
    # Otherwise CloudFormation generates the name after the key exists: a key policy that refers to the bucket and a
    # bucket that refers to the key would form a circle. The role reaches its linked buckets only.
    return iam.PolicyStatement(
        actions=list(KEY_ACTIONS), principals=[iam.AnyPrincipal()], resources=["*"], conditions=conditions
    )


def _bucket_statement(scope: Construct, bucket: s3.IBucket, role: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=list(BUCKET_ACTIONS),
        principals=[iam.AccountPrincipal(cdk.Stack.of(scope).account)],
        resources=[bucket.bucket_arn, bucket.arn_for_objects("*")],
        conditions={"ArnLike": {"aws:PrincipalArn": role}},
    )


def _fixed_name(bucket: s3.IBucket) -> str | None:
    resource = bucket.node.default_child
    name = resource.bucket_name if isinstance(resource, s3.CfnBucket) else bucket.bucket_name
    return None if name is None or cdk.Token.is_unresolved(name) else name


def _warn_of_bucket(scope: Construct, bucket: s3.IBucket, role: str, on_key: iam.PolicyStatement) -> None:
    on_bucket = _bucket_statement(scope, bucket, role)
    message = (
        f"the bucket {readable(scope, bucket.bucket_name)} is not created in this app, so its owner must check the "
        f"rest. In another account, its policy needs the statement {_statement(scope, on_bucket)}. "
        "No statement may deny the role."
    )
    if bucket.encryption_key is None:
        message += f" If a KMS key encrypts it, the key's policy needs {_statement(scope, on_key)}."
    message += (
        " It must not expire current objects, or move them to Glacier Flexible Retrieval or Deep Archive; with "
        "import_events it must lie in the Region of the file system, and have no event notifications that overlap with "
        "those of FSx."
    )
    cdk.Validations.of(scope).add_warning(FOREIGN_BUCKET.warning_id, message)


def _statement(scope: Construct, statement: iam.PolicyStatement) -> str:
    return json.dumps(readable(scope, statement.to_statement_json()))
