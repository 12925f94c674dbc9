"""CloudWatch as a data source of Grafana: metrics that only AWS has, such as those of file servers, and logs."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.planning import checked_method
from ultracluster.security import acknowledge_wildcards

# Actions of the data source for metrics; neither supports resource-level permissions.
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html (read 2026-11-21)
_ACTIONS = ("cloudwatch:GetMetricData", "cloudwatch:ListMetrics")


# Actions of the data source for logs, with and without resource-level permissions.
# https://grafana.com/docs/plugins/cloudwatch/latest/configure/ (read 2026-11-24) and
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html (read 2026-11-24)
_LOG_GROUP_ACTIONS = ("logs:GetLogEvents", "logs:GetLogGroupFields", "logs:StartQuery")
_LOG_ACTIONS = ("logs:DescribeLogGroups", "logs:GetQueryResults", "logs:StopQuery")


class CloudWatchGrants:
    """Permissions on the metrics and logs of the account."""

    @staticmethod
    @checked_method
    def read(grantee: iam.IGrantable) -> iam.Grant:
        """Allow to list and read metrics, as the role of a Grafana with CloudWatch as a data source needs."""
        _acknowledge(
            grantee,
            ["*"],
            "CloudWatch has no permissions on single metrics: GetMetricData and ListMetrics take * only",
        )
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(_ACTIONS), resource_arns=["*"])

    @staticmethod
    @checked_method
    def read_logs(grantee: iam.IGrantable, log_groups: str) -> iam.Grant:
        """Allow to search log groups, as the role of a Grafana with `cloudwatch_dashboards` needs.

        Args:
            grantee: Grafana, or its role.
            log_groups: Prefix of their names, such as `/ultracluster/`.
        """
        arn = f"arn:{cdk.Aws.PARTITION}:logs:{cdk.Aws.REGION}:{cdk.Aws.ACCOUNT_ID}:log-group:{log_groups}*"
        _acknowledge(
            grantee,
            ["*", arn],
            "Their names have an id that exists once the cluster does; lists and results of queries take * only",
        )
        iam.Grant.add_to_principal(grantee=grantee, actions=list(_LOG_ACTIONS), resource_arns=["*"])
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(_LOG_GROUP_ACTIONS), resource_arns=[arn])


def _acknowledge(grantee: iam.IGrantable, arns: Sequence[str], reason: str) -> None:
    principal = grantee.grant_principal
    if isinstance(principal, Construct):
        acknowledge_wildcards(principal, arns, reason)


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
