"""Keys of log groups."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from ultracluster.catalogue.ec2 import domain_of
from ultracluster.planning import known


def allow_logs(key: kms.IKey, region: str, log_groups: str) -> None:
    """Allow CloudWatch Logs of a Region to use a key for log groups alone, by their ARN or a pattern of it.

    Its principal has the domain of the partition, other than those of most services: region-info/lib/default.ts of
    aws-cdk-lib 2.275.0, and the data source `aws_service_principal` of Terraform's provider (read 2026-11-28).

    See: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html (read 2026-11-22)
    """
    domain = domain_of(region) if known(region) else cdk.Aws.URL_SUFFIX
    key.add_to_resource_policy(
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{region}.{domain}")],
            actions=["kms:Decrypt*", "kms:Describe*", "kms:Encrypt*", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": log_groups}},
        )
    )
