"""CloudWatch alarms of a resource, one facade for all."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.planning import shown, type_errors
from ultracluster.rules import Message, Refusal, error
from ultracluster.security import check_same_region

# Seconds; shorter periods are for high-resolution metrics, which AWS's services do not publish here:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (read 2026-11-22)
_PERIOD_SECONDS = 60
# Longest time of all periods together, and that of periods below an hour, in seconds: the same page, of `Period`.
_LONGEST_SECONDS = 604_800
_LONGEST_SECONDS_BELOW_AN_HOUR = 86_400
_ALARM = error("alarm", "An alarm is one of the resource, and has an action or a topic.")


@dataclass(frozen=True, kw_only=True)
class AlarmDefinition:
    """Default of an alarm.

    Args:
        metric: Creates the metric.
        threshold: The alarm is in ALARM above this value.
        evaluation_periods: Number of consecutive periods above the threshold.
        period: Length of a period. It must be the period of the metric.
        description: What is wrong and what to do; may hold `{threshold}` and `{minutes}`.
    """

    metric: Callable[[], cloudwatch.IMetric]
    threshold: float
    evaluation_periods: int
    period: cdk.Duration
    description: str


class Alarms:
    """Alarms of a resource. Nothing is created until `add` or `add_all` is called.

    Missing data does not breach: a file system without clients publishes nothing.

    Args:
        owner: The resource.
        definitions: The alarms, by name.
    """

    def __init__(self, owner: Construct, definitions: Mapping[str, AlarmDefinition]) -> None:
        self._owner = owner
        self._definitions = definitions

    @property
    def names(self) -> tuple[str, ...]:
        """Names that `add` takes."""
        return tuple(self._definitions)

    def add(
        self,
        name: str,
        action: cloudwatch.IAlarmAction | sns.ITopic,
        *,
        threshold: float | None = None,
        evaluation_periods: int | None = None,
        period: cdk.Duration | None = None,
        scope: Construct | None = None,
        id: str | None = None,
    ) -> cloudwatch.Alarm:
        """Create an alarm.

        Args:
            name: One of `names`.
            action: Action of the states ALARM and OK, or the topic to notify. If a KMS key of the account encrypts
                the topic, its key policy must allow CloudWatch.
            threshold: The alarm is in ALARM above this value. Default: that of the definition.
            evaluation_periods: Number of consecutive periods. Default: that of the definition.
            period: Length of a period. Default: that of the definition.
            scope: Where the alarm is created. Default: `Alarms` below the resource.
            id: Id of the alarm, for a second alarm of this name. Default: the name.

        Raises:
            Refusal: If there is no alarm of this name, the action is not an action, the topic or the alarm is in
                another Region than the resource, CloudWatch does not accept a number, or the id is in use.
        """
        numbers = {"threshold": threshold, "evaluation_periods": evaluation_periods, "period": period}
        problems = type_errors(Alarms.add, {**numbers, "scope": scope, "id": id})
        # JSON has neither NaN nor infinity, and jsii ends with them.
        if isinstance(threshold, float) and not isfinite(threshold):
            problems.append(_ALARM(f"threshold must be a finite number, got {threshold}"))
        elif not problems and threshold is not None and threshold < 0:
            problems.append(_ALARM(f"threshold must be 0 or more, got {threshold:g}: no metric is below"))
        definition = self._definitions.get(name)
        if definition is None:
            problems.append(_ALARM(f"name must be one of {', '.join(self._definitions)}, got {shown(name)}"))
        if problems or definition is None:
            raise Refusal(self._owner, problems)
        periods = definition.evaluation_periods if evaluation_periods is None else evaluation_periods
        if (period, evaluation_periods) != (None, None) and (
            errors := _time_errors(period or definition.period, periods)
        ):
            raise Refusal(self._owner, errors)
        place = scope or self._scope
        return self._create(definition, self._bound(action, place), place, id or name, threshold, periods, period)

    def _create(
        self,
        definition: AlarmDefinition,
        bound: Any,
        place: Construct,
        id: str,
        threshold: float | None,
        periods: int,
        period: cdk.Duration | None,
    ) -> cloudwatch.Alarm:
        metric = definition.metric()
        if period is not None:
            metric = metric.with_(period=period)  # type: ignore[attr-defined]  # metrics and expressions have it
        limit = definition.threshold if threshold is None else threshold
        minutes = _minutes(period or definition.period) * periods
        try:
            alarm = cloudwatch.Alarm(
                place,
                id,
                metric=metric,
                threshold=limit,
                evaluation_periods=periods,
                comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
                treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
                alarm_description=definition.description.format(threshold=f"{limit:,g}", minutes=f"{minutes:g}"),
            )
        except RuntimeError as refused:
            if place.node.try_find_child(id) is None:
                raise
            text = (
                f"the alarm {id} exists in {place.node.path}: pass another id or scope, or call add_alarm_action of "
                "the existing alarm for a second action"
            )
            raise Refusal(self._owner, _ALARM(text)) from refused
        alarm.add_alarm_action(bound)
        alarm.add_ok_action(bound)
        return alarm

    def add_all(
        self,
        action: cloudwatch.IAlarmAction | sns.ITopic,
        *,
        leave_out: Collection[str] = (),
        scope: Construct | None = None,
    ) -> list[cloudwatch.Alarm]:
        """Create every alarm with its defaults.

        Args:
            action: Action of the states ALARM and OK, or the topic to notify.
            leave_out: Names of alarms that are not created.
            scope: Where the alarms are created. Default: `Alarms` below the resource.

        Raises:
            Refusal: If `leave_out` holds an unknown name, or the action is not an action.
        """
        problems = type_errors(Alarms.add_all, {"scope": scope})
        left_out = [leave_out] if isinstance(leave_out, str) or not isinstance(leave_out, Collection) else [*leave_out]
        if unknown := [name for name in left_out if name not in self.names]:
            names = ", ".join(self._definitions)
            problems.append(_ALARM(f"leave_out must hold names of {names}, got {', '.join(map(str, unknown))}"))
        if problems:
            raise Refusal(self._owner, problems)
        place = scope or self._scope
        bound = self._bound(action, place)
        return [
            self._create(definition, bound, place, name, None, definition.evaluation_periods, None)
            for name, definition in self._definitions.items()
            if name not in left_out
        ]

    def _bound(self, action: Any, place: Construct) -> Any:
        """Return the action. CloudWatch notifies topics, and has alarms of metrics, of one Region."""
        # Through jsii, looking for `topic_arn` reads it, so `add_all` does so once.
        topic = None if hasattr(action, "bind") else action
        if not hasattr(action if topic is None else topic, "bind" if topic is None else "topic_arn"):
            raise Refusal(self._owner, _ALARM(f"action must be an IAlarmAction or an ITopic, got {shown(action)}"))
        owner = self._owner if isinstance(self._owner, cdk.Resource) else None
        if errors := check_same_region(place, {"action": topic, "the resource": owner}):
            raise Refusal(self._owner, errors)
        return action if topic is None else actions.SnsAction(topic)

    @property
    def _scope(self) -> Construct:
        existing = self._owner.node.try_find_child("Alarms")
        return existing if isinstance(existing, Construct) else Construct(self._owner, "Alarms")


def _time_errors(period: cdk.Duration, evaluation_periods: int) -> list[Message]:
    """Return the errors of periods that CloudWatch does not accept."""
    seconds = period.to_seconds(integral=False)
    if seconds < _PERIOD_SECONDS or seconds % _PERIOD_SECONDS:
        return [_ALARM(f"period must be one minute or a multiple of it, got {seconds:g} seconds")]
    longest = _LONGEST_SECONDS if seconds >= 3600 else _LONGEST_SECONDS_BELOW_AN_HOUR
    if seconds > longest:
        return [_ALARM(f"period must be at most {longest // 86_400} days, got {seconds:g} seconds")]
    if evaluation_periods < 1 or seconds * evaluation_periods > longest:
        most = int(longest // seconds)
        return [_ALARM(f"evaluation_periods must be 1 to {most:,} of {seconds:g} seconds, got {evaluation_periods:,}")]
    return []


@lru_cache
def _minutes(period: cdk.Duration) -> float:
    # Node computes it, and many alarms have one period.
    return period.to_minutes(integral=False)
