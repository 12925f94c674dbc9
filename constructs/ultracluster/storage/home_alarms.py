"""The alarms of home directories."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

#: Periods of an hour: a burst that ends by itself wakes nobody.
AN_HOUR = 12


@dataclass(frozen=True, kw_only=True)
class HomeAlarm:
    """One alarm.

    Args:
        id: Id of the construct below `Alarms`.
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


def home_alarms(scope: Construct, topic: sns.ITopic, alarms: Sequence[HomeAlarm]) -> list[cloudwatch.Alarm]:
    """Make alarms that tell a topic when they start and when they end; silence of a metric is none."""
    group = Construct(scope, "Alarms")
    made = []
    for one in alarms:
        alarm = cloudwatch.Alarm(
            group,
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
