"""Log groups of a Slurm cluster."""

from collections.abc import Mapping
from types import MappingProxyType

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.planning import checked_method, stack_of
from ultracluster.rules import Refusal
from ultracluster.security import allow_logs, check_same_region

#: Retention by days.
RETENTION: Mapping[int, logs.RetentionDays] = MappingProxyType(
    {
        1: logs.RetentionDays.ONE_DAY,
        3: logs.RetentionDays.THREE_DAYS,
        5: logs.RetentionDays.FIVE_DAYS,
        7: logs.RetentionDays.ONE_WEEK,
        14: logs.RetentionDays.TWO_WEEKS,
        30: logs.RetentionDays.ONE_MONTH,
        60: logs.RetentionDays.TWO_MONTHS,
        90: logs.RetentionDays.THREE_MONTHS,
        120: logs.RetentionDays.FOUR_MONTHS,
        150: logs.RetentionDays.FIVE_MONTHS,
        180: logs.RetentionDays.SIX_MONTHS,
        365: logs.RetentionDays.ONE_YEAR,
        400: logs.RetentionDays.THIRTEEN_MONTHS,
        545: logs.RetentionDays.EIGHTEEN_MONTHS,
        731: logs.RetentionDays.TWO_YEARS,
        1096: logs.RetentionDays.THREE_YEARS,
        1827: logs.RetentionDays.FIVE_YEARS,
        2192: logs.RetentionDays.SIX_YEARS,
        2557: logs.RetentionDays.SEVEN_YEARS,
        2922: logs.RetentionDays.EIGHT_YEARS,
        3288: logs.RetentionDays.NINE_YEARS,
        3653: logs.RetentionDays.TEN_YEARS,
    }
)


def log_group(scope: Construct, name: str, *, retention: logs.RetentionDays, key: kms.IKey | None) -> logs.LogGroup:
    """Create a log group that outlives its stack, as the default child of a construct."""
    if problems := check_same_region(scope, {"key": key}):
        raise Refusal(scope, problems)
    if key is not None:
        allow_logs(key, stack_of(scope).region, log_group_arn(scope, name))
    group = logs.LogGroup(
        scope,
        "LogGroup",
        log_group_name=name,
        retention=retention,
        encryption_key=key,
        removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
    scope.node.default_child = group.node.default_child
    return group


def log_group_arn(scope: Construct, name: str) -> str:
    """Return the ARN of a log group, without the `:*` at the end of the CDK's."""
    stack: cdk.Stack = stack_of(scope)
    return stack.format_arn(
        service="logs", resource="log-group", resource_name=name, arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME
    )


class LogGroupGrants:
    """Permissions on a log group."""

    def __init__(self, group: logs.ILogGroup) -> None:
        self._group = group

    @checked_method
    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read and to search the logs."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["logs:FilterLogEvents", "logs:GetLogEvents", "logs:StartQuery"],
            resource_arns=[self._group.log_group_arn],
        )
