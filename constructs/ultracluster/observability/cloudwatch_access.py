"""Grafana asks CloudWatch for what only AWS knows: the servers of a file system."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

# What the data source calls for metrics; neither knows resources.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html (read 2026-11-21)
_ACTIONS = ("cloudwatch:GetMetricData", "cloudwatch:ListMetrics")


def grant_cloudwatch(scope: Construct, role: iam.IRole) -> None:
    """Let a role read the metrics of its account.

    Args:
        scope: Where the policy belongs.
        role: That of a Grafana.
    """
    statement = iam.PolicyStatement(actions=list(_ACTIONS), resources=["*"])
    policy = iam.ManagedPolicy(scope, "ReadCloudWatch", statements=[statement], roles=[role])
    cdk.Validations.of(policy).acknowledge(
        cdk.Acknowledgment(
            id="AwsSolutions-IAM5[Resource::*]",
            reason="CloudWatch has no permissions on single metrics: GetMetricData and ListMetrics take * alone",
        )
    )


def cloudwatch_source(uid: str, name: str, region: str, auth: str) -> Mapping[str, object]:
    """The data source, as Grafana's API takes it.

    Args:
        uid: Its uid.
        name: What people see.
        region: Region whose metrics are shown.
        auth: `ec2_iam_role` for the role of a workspace, `default` for that of an instance.

    See: https://grafana.com/docs/plugins/cloudwatch/latest/configure/ (read 2026-11-21)
    """
    return {
        "uid": uid,
        "name": name,
        "type": "cloudwatch",
        "access": "proxy",
        "jsonData": {"authType": auth, "defaultRegion": region},
    }
