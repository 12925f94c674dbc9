"""The alarms of file systems."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One alarm.

    Args:
        id: Id of the construct.
        metric: What is watched.
        above: It rings above this.
        periods: For so many periods of the metric, one after the other.
        says: What is wrong and what to do, as the message shows it.
    """

    id: str
    metric: cloudwatch.IMetric
    above: float
    periods: int
    says: str


def make_alarms(scope: Construct, topic: sns.ITopic, alarms: Sequence[Alarm]) -> list[cloudwatch.Alarm]:
    """Make alarms that tell a topic when they start and when they end; silence of a metric is none."""
    made = []
    for one in alarms:
        alarm = cloudwatch.Alarm(
            scope,
            one.id,
            metric=one.metric,
            threshold=one.above,
            evaluation_periods=one.periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            # A file system that nobody uses publishes nothing.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            alarm_description=one.says,
        )
        alarm.add_alarm_action(actions.SnsAction(topic))
        alarm.add_ok_action(actions.SnsAction(topic))
        made.append(alarm)
    return made
