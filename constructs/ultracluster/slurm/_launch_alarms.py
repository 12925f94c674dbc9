"""Alarms on nodes that cannot be launched, from the scaling log of AWS PCS."""

from functools import partial

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.cloudwatch import AlarmDefinition, Alarms

# Fields and codes of a record: https://docs.aws.amazon.com/pcs/latest/userguide/monitoring_scaling-logs.html
# (read 2026-11-22)
_FAILED = logs.FilterPattern.string_value("$.status_code", "=", "LAUNCH_FAILED")
_PATTERNS: dict[str, logs.IFilterPattern] = {
    "LaunchesFail": _FAILED,
    "LaunchesRefused": logs.FilterPattern.all(
        _FAILED, logs.FilterPattern.string_value("$.reason_code", "!=", "INSUFFICIENT_CAPACITY")
    ),
    "BootsFail": logs.FilterPattern.string_value("$.reason_code", "=", "BOOTSTRAP_FAILED"),
}
_NAMESPACE = "UltraCluster/Slurm"
# More than two of a kind are no accident, and a node that fails to boot alone is replaced once. Capacity on demand
# comes and goes: a quarter of an hour without. The others repeat until somebody corrects the cause, in a group of one
# node once in half an hour, which a node has to join. The window of an alarm slides by a minute.
# https://docs.aws.amazon.com/pcs/latest/userguide/cng-node-lifecycle-actions-best-practices.html (read 2026-11-21),
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html (read 2026-11-24)
_MOST = 2
_MINUTES = {"LaunchesFail": 5, "LaunchesRefused": 180, "BootsFail": 180}
_PERIODS = {"LaunchesFail": 3, "LaunchesRefused": 1, "BootsFail": 1}
_DESCRIPTIONS = {
    "LaunchesFail": "More than {threshold} launches of Slurm nodes failed in each 5 of {minutes} minutes: see "
    "reason_code in the scaling log, and docs/operations/node-health.md",
    "LaunchesRefused": "More than {threshold} launches of Slurm nodes failed within {minutes} minutes for another "
    "reason than capacity, and AWS PCS repeats them: see docs/operations/node-health.md",
    "BootsFail": "More than {threshold} Slurm nodes were terminated within {minutes} minutes because their boot "
    "failed, and AWS PCS launches others: see docs/operations/node-health.md",
}


def launch_alarms(owner: Construct, group: logs.ILogGroup, cluster_id: str) -> Alarms:
    """Create the metrics of failed launches and boots, and return their alarms."""
    definitions = {}
    for name, pattern in _PATTERNS.items():
        period = cdk.Duration.minutes(_MINUTES[name])
        logs.MetricFilter(
            owner,
            name,
            log_group=group,
            filter_pattern=pattern,
            metric_namespace=_NAMESPACE,
            metric_name=f"{name}-{cluster_id}",
            metric_value="1",
        )
        definitions[name] = AlarmDefinition(
            metric=partial(
                cloudwatch.Metric,
                namespace=_NAMESPACE,
                metric_name=f"{name}-{cluster_id}",
                statistic="Sum",
                period=period,
            ),
            threshold=_MOST,
            evaluation_periods=_PERIODS[name],
            period=period,
            description=_DESCRIPTIONS[name],
        )
    return Alarms(owner, definitions)
