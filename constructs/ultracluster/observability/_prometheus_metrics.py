"""CloudWatch metrics and alarms of a workspace of Amazon Managed Service for Prometheus."""

from collections.abc import Callable, Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.catalogue.monitoring import ACTIVE_ALERTS, ACTIVE_SERIES
from ultracluster.cloudwatch import AlarmDefinition

_PERIOD = cdk.Duration.minutes(5)
# A choice of this library: time to have a quota raised.
_NEARLY = 0.8


class PrometheusMetrics:
    """Metrics that AWS publishes about one workspace.

    Each is a query over all reasons, rule groups and integrations of the workspace.

    Args:
        workspace_id: Id of the workspace.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-CW-usage-metrics.html (read 2026-11-21). The page
    names metrics, not all dimensions: `Workspace` is the dimension that published alarms use.
    """

    def __init__(self, workspace_id: str) -> None:
        self._id = workspace_id

    def metric_discarded_samples(self) -> cloudwatch.IMetric:
        """Samples that are not stored."""
        return self._sum("DiscardedSamples")

    def metric_rule_evaluation_failures(self) -> cloudwatch.IMetric:
        """Rules that could not be evaluated."""
        return self._sum("RuleEvaluationFailures")

    def metric_rule_group_iterations_missed(self) -> cloudwatch.IMetric:
        """Evaluations of rule groups that were left out, because the one before took too long."""
        return self._sum("RuleGroupIterationsMissed")

    def metric_notifications_failed(self) -> cloudwatch.IMetric:
        """Notifications that the alert manager could not deliver."""
        return self._sum("AlertManagerNotificationsFailed")

    def metric_notifications_throttled(self) -> cloudwatch.IMetric:
        """Notifications above the rate of the alert manager."""
        return self._sum("AlertManagerNotificationsThrottled")

    def metric_active_series(self) -> cloudwatch.IMetric:
        """Active series; the workspace has a quota of them."""
        return self._usage("ActiveSeries")

    def metric_active_alerts(self) -> cloudwatch.IMetric:
        """Active alerts; the workspace has a quota of them."""
        return self._usage("ActiveAlerts")

    def _sum(self, name: str) -> cloudwatch.IMetric:
        return self._query(f"SUM({name})", f"\"AWS/Prometheus\" WHERE Workspace = '{self._id}'", name)

    def _usage(self, resource: str) -> cloudwatch.IMetric:
        where = f"Service = 'Prometheus' AND \"Resource\" = '{resource}' AND ResourceId = '{self._id}'"
        return self._query("MAX(ResourceCount)", f'"AWS/Usage" WHERE {where}', resource)

    def _query(self, select: str, where: str, label: str) -> cloudwatch.IMetric:
        return cloudwatch.MathExpression(
            expression=f"SELECT {select} FROM {where}", using_metrics={}, label=label, period=_PERIOD
        )


def alarm_definitions(metrics: PrometheusMetrics) -> Mapping[str, AlarmDefinition]:
    """Return the alarms of a workspace, by name. They do not pass through its alert manager, which may have failed."""
    return {
        "DiscardedSamples": _alarm(
            metrics.metric_discarded_samples,
            "Samples are discarded: what is not stored raises no alert. The reason is a dimension of the "
            "metric; per_labelset_series_limit means that the cluster is at its series limit",
        ),
        "RuleEvaluationFailures": _alarm(
            metrics.metric_rule_evaluation_failures,
            "Rules fail, so their alerts do not fire; the log of the workspace names the rules",
        ),
        "RuleGroupIterationsMissed": _alarm(
            metrics.metric_rule_group_iterations_missed,
            "Rule groups take longer than their interval, so alerts are late",
            periods=3,
        ),
        "NotificationsFailed": _alarm(
            metrics.metric_notifications_failed,
            "Notifications are not delivered: check the policies of the topic, of its key and of the PagerDuty secret",
        ),
        "NotificationsThrottled": _alarm(
            metrics.metric_notifications_throttled,
            "The workspace has more notifications than its alert manager may send",
        ),
        "ActiveSeries": _near_quota(metrics.metric_active_series, ACTIVE_SERIES, "active series"),
        "ActiveAlerts": _near_quota(metrics.metric_active_alerts, ACTIVE_ALERTS, "active alerts"),
    }


def _alarm(
    metric: Callable[[], cloudwatch.IMetric], description: str, *, threshold: int = 0, periods: int = 1
) -> AlarmDefinition:
    return AlarmDefinition(
        metric=metric, threshold=threshold, evaluation_periods=periods, period=_PERIOD, description=description
    )


def _near_quota(metric: Callable[[], cloudwatch.IMetric], quota: int, resource: str) -> AlarmDefinition:
    description = f"The workspace has more than {{threshold}} {resource}; have the quota raised before it is reached"
    return _alarm(metric, description, threshold=int(quota * _NEARLY))
