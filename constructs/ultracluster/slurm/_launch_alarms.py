"""Alarms on nodes that cannot be launched, from the scaling log of AWS PCS."""

from functools import partial

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from ultracluster.cloudwatch import AlarmDefinition, Alarms

# Fields and codes of a record: https://docs.aws.amazon.com/pcs/latest/userguide/monitoring_scaling-logs.html
# (read 2026-11-22)
_FIELDS = {"LaunchesFail": ("$.status_code", "LAUNCH_FAILED"), "BootsFail": ("$.reason_code", "BOOTSTRAP_FAILED")}
_NAMESPACE = "UltraCluster/Slurm"
_MINUTES = 5
# PCS repeats a launch, and capacity on demand comes and goes: more than two in five minutes, for a quarter of an hour,
# are no accident. A node that fails to boot alone is replaced once.
_MOST = 2
_PERIODS = {"LaunchesFail": 3, "BootsFail": 1}
_DESCRIPTIONS = {
    "LaunchesFail": "More than {threshold} launches of Slurm nodes failed in each 5 of {minutes} minutes: see "
    "reason_code in the scaling log, and docs/operations/node-health.md",
    "BootsFail": "More than {threshold} Slurm nodes were terminated in {minutes} minutes because their boot failed, "
    "and AWS PCS launches others: see docs/operations/node-health.md",
}


def launch_alarms(owner: Construct, group: logs.ILogGroup, cluster_id: str) -> Alarms:
    """Create the metrics of failed launches and boots, and return their alarms.

    Args:
        owner: Construct of the log group.
        group: Log group with the scaling log.
        cluster_id: Id of the cluster, which names its metrics.
    """
    period = cdk.Duration.minutes(_MINUTES)
    definitions = {}
    for name, (field, code) in _FIELDS.items():
        logs.MetricFilter(
            owner,
            name,
            log_group=group,
            filter_pattern=logs.FilterPattern.string_value(field, "=", code),
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
