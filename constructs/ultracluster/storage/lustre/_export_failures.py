"""Exports to S3 that failed, counted in the log of a file system: FSx has no metric of them."""

from collections.abc import Callable
from functools import partial

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

_NAMESPACE = "UltraCluster/Lustre"
# A file "being used by another process" is exported when it is closed, which is no failure. See
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/data-repo-event-logs.html (read 2026-11-28).
_MESSAGES = (
    "Failed to export file because access was denied",
    "Failed to export file because the ",
    "Failed to export file for S3 object",
    "Automatic export encountered an internal error",
)


def count_export_failures(
    owner: Construct, group: logs.ILogGroup, file_system_id: str
) -> Callable[[], cloudwatch.Metric]:
    """Create the metric filter, and return what creates its metric."""
    name = f"ExportFailures-{file_system_id}"
    logs.CfnMetricFilter(
        owner,
        "ExportFailures",
        log_group_name=group.log_group_name,
        # An event with one of the terms.
        filter_pattern=" ".join(f'?"{text}"' for text in _MESSAGES),
        metric_transformations=[
            logs.CfnMetricFilter.MetricTransformationProperty(
                metric_namespace=_NAMESPACE, metric_name=name, metric_value="1"
            )
        ],
    )
    return partial(_metric, owner, name)


def _metric(owner: Construct, name: str) -> cloudwatch.Metric:
    stack = cdk.Stack.of(owner)
    return cloudwatch.Metric(
        namespace=_NAMESPACE,
        metric_name=name,
        statistic="Sum",
        period=cdk.Duration.minutes(1),
        region=stack.region,
        account=stack.account,
    )
