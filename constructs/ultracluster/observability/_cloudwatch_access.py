"""CloudWatch as a data source of Grafana, for metrics that only AWS has, such as those of file servers."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

# Actions of the data source for metrics; neither supports resource-level permissions.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html (read 2026-11-21)
_ACTIONS = ("cloudwatch:GetMetricData", "cloudwatch:ListMetrics")


class CloudWatchGrants:
    """Permissions on the metrics of the account."""

    @staticmethod
    def read(grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list and read metrics, as the role of a Grafana with CloudWatch as a data source needs."""
        grant = iam.Grant.add_to_principal(grantee=grantee, actions=list(_ACTIONS), resource_arns=["*"])
        principal = grantee.grant_principal
        if isinstance(principal, Construct):
            cdk.Validations.of(principal).acknowledge(
                cdk.Acknowledgment(
                    id="AwsSolutions-IAM5[Resource::*]",
                    reason="CloudWatch has no permissions on single metrics: GetMetricData and ListMetrics take * only",
                )
            )
        return grant


def cloudwatch_source(uid: str, name: str, region: str, auth: str) -> Mapping[str, object]:
    """Return the data source for the API of Grafana.

    Args:
        uid: Uid of the data source.
        name: Display name.
        region: Region of the metrics.
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
