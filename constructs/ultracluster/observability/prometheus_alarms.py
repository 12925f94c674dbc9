"""Alarms of the pipeline itself: metrics that are dropped, rules that fail, alerts that reach nobody."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.hardware.prometheus import ACTIVE_ALERTS, ACTIVE_SERIES
from ultracluster.observability.checks import WORKSPACE_ID, text_problem

_PERIOD = cdk.Duration.minutes(5)
# A quota that is nearly used up: time to have it raised. A choice of ours.
_NEARLY = 0.8


class PrometheusAlarms(Construct):
    """Alarms of a workspace. They don't pass through its own alert manager, which may be what is broken.

    Args:
        workspace_id: Id of the workspace.
        topic: Who is told, of an alarm and of its end; in the workspace's region.
        series_quota: Active series that the workspace may have. Default: the quota of a new account.
        alerts_quota: Active alerts that it may have. Default: the quota of a new account.

    Raises:
        ValueError: When the id is none, or a quota below 1; all at once.

    See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-CW-usage-metrics.html (read 2026-11-21). That page
    names metrics, not all dimensions: `Workspace` is what published alarms use.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        workspace_id: str,
        topic: sns.ITopic,
        series_quota: int = ACTIVE_SERIES,
        alerts_quota: int = ACTIVE_ALERTS,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("workspace_id", workspace_id, WORKSPACE_ID, "the id of a workspace, ws-..."),
            *(
                f"{name} must be at least 1, got {quota}"
                for name, quota in (("series_quota", series_quota), ("alerts_quota", alerts_quota))
                if quota < 1
            ),
        ]
        if problems:
            raise ValueError(f"{self.node.path}: {'; '.join(problems)}")
        self._workspace_id = workspace_id
        self._topic = topic
        self._alarm(
            "DiscardedSamples",
            self._sum("DiscardedSamples"),
            "Samples are discarded: what is not stored raises no alert. The reason is a dimension of the metric; "
            "per_labelset_series_limit means that the cluster is at its series limit",
        )
        self._alarm(
            "RuleEvaluationFailures",
            self._sum("RuleEvaluationFailures"),
            "Rules fail, so alerts are blind; the log of the workspace says which",
        )
        self._alarm(
            "RuleGroupIterationsMissed",
            self._sum("RuleGroupIterationsMissed"),
            "Rule groups take longer than their interval, so alerts come late",
            periods=3,
        )
        self._alarm(
            "NotificationsFailed",
            self._sum("AlertManagerNotificationsFailed"),
            "Alerts reach nobody: look at the policies of the topic, of its key and of the PagerDuty secret",
        )
        self._alarm(
            "NotificationsThrottled",
            self._sum("AlertManagerNotificationsThrottled"),
            "There are more alerts than are let out",
        )
        for resource, quota in (("ActiveSeries", series_quota), ("ActiveAlerts", alerts_quota)):
            self._alarm(
                resource,
                self._usage(resource),
                f"Over four fifths of the {quota:,} {resource} of the workspace are used; have the quota raised",
                above=int(quota * _NEARLY),
            )

    def _alarm(self, id: str, metric: cloudwatch.IMetric, says: str, *, above: int = 0, periods: int = 1) -> None:
        alarm = cloudwatch.Alarm(
            self,
            id,
            metric=metric,
            threshold=above,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            # A metric that is missing is 0, says the page.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=says,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))
        alarm.add_ok_action(actions.SnsAction(self._topic))

    def _sum(self, name: str) -> cloudwatch.IMetric:
        # Over all reasons, rule groups and integrations, whatever else a metric is told apart by.
        return self._query(f"SUM({name})", f"\"AWS/Prometheus\" WHERE Workspace = '{self._workspace_id}'", name)

    def _usage(self, resource: str) -> cloudwatch.IMetric:
        where = f"Service = 'Prometheus' AND \"Resource\" = '{resource}' AND ResourceId = '{self._workspace_id}'"
        return self._query("MAX(ResourceCount)", f'"AWS/Usage" WHERE {where}', resource)

    def _query(self, what: str, where: str, label: str) -> cloudwatch.IMetric:
        return cloudwatch.MathExpression(
            expression=f"SELECT {what} FROM {where}", using_metrics={}, label=label, period=_PERIOD
        )
