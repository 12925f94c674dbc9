"""The role of S3 Files that reads and writes its bucket."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.catalogue.ec2 import via_service
from ultracluster.planning import known
from ultracluster.security import wildcard_finding

# AWS's own policy, word for word: S3 Files calls the versioned and the tagging forms too, and AWS lists them by
# wildcards only. https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21)
_OBJECT_ACTIONS = ("s3:AbortMultipartUpload", "s3:DeleteObject*", "s3:GetObject*", "s3:List*", "s3:PutObject*")
_BUCKET_ACTIONS = ("s3:ListBucket", "s3:ListBucketVersions")
_KEY_ACTIONS = ("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo")
_MANAGE_RULES = (
    "events:DeleteRule",
    "events:DisableRule",
    "events:EnableRule",
    "events:PutRule",
    "events:PutTargets",
    "events:RemoveTargets",
)
_READ_RULES = ("events:DescribeRule", "events:ListRuleNamesByTarget", "events:ListRules", "events:ListTargetsByRule")
_SERVICE = "elasticfilesystem.amazonaws.com"
_RULES = "DO-NOT-DELETE-S3-Files*"


def s3_files_role(
    scope: Construct, *, bucket: s3.IBucket, bucket_key: kms.IKey | None, removal_policy: cdk.RemovalPolicy
) -> iam.Role:
    """Create the role `Role` below a scope: S3 Files, of this account and region, may synchronise one bucket."""
    stack = cdk.Stack.of(scope)
    own_account = {"StringEquals": {"aws:ResourceAccount": stack.account}}
    rules = stack.format_arn(service="events", resource="rule", resource_name=_RULES)
    all_rules = stack.format_arn(service="events", resource="rule", resource_name="*")
    statements = [
        iam.PolicyStatement(
            sid="Bucket", actions=list(_BUCKET_ACTIONS), resources=[bucket.bucket_arn], conditions=own_account
        ),
        iam.PolicyStatement(
            sid="Objects",
            actions=list(_OBJECT_ACTIONS),
            resources=[bucket.arn_for_objects("*")],
            conditions=own_account,
        ),
        iam.PolicyStatement(
            sid="ManageRules",
            actions=list(_MANAGE_RULES),
            resources=[rules],
            conditions={"StringEquals": {"events:ManagedBy": _SERVICE}},
        ),
        iam.PolicyStatement(sid="ReadRules", actions=list(_READ_RULES), resources=[all_rules]),
    ]
    if bucket_key is not None:
        there = stack.region
        host = via_service("s3", there) if known(there) else f"s3.{there}.{stack.url_suffix}"
        statements.append(
            iam.PolicyStatement(
                sid="Key",
                actions=list(_KEY_ACTIONS),
                resources=[bucket_key.key_arn],
                conditions={"StringEquals": {"kms:ViaService": host}},
            )
        )
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal(
            _SERVICE,
            conditions={
                "StringEquals": {"aws:SourceAccount": stack.account},
                "ArnLike": {
                    "aws:SourceArn": stack.format_arn(service="s3files", resource="file-system", resource_name="*")
                },
            },
        ),
        inline_policies={"Synchronise": iam.PolicyDocument(statements=statements)},
    )
    role.apply_removal_policy(removal_policy)
    reason = "AWS's own policy for S3 Files: objects of one bucket, and the rules that S3 Files creates and reads"
    findings = [f"AwsSolutions-IAM5[Action::{action}]" for action in _OBJECT_ACTIONS if "*" in action]
    findings += [wildcard_finding(role, arn) for arn in (bucket.arn_for_objects("*"), rules, all_rules)]
    cdk.Validations.of(role).acknowledge(*(cdk.Acknowledgment(id=finding, reason=reason) for finding in findings))
    return role
