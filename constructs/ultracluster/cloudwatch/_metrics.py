"""Metrics of a resource."""

from collections.abc import Callable
from functools import cache, cached_property
from typing import ClassVar, NamedTuple

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.cloudwatch._alarms import AlarmDefinition
from ultracluster.planning import checked_method, known


class MetricEnvironment(NamedTuple):
    """Region and account of the metrics of a resource, as far as they are known at synthesis."""

    region: str | None = None
    account: str | None = None

    @staticmethod
    def of(owner: cdk.IResource | None) -> "MetricEnvironment":
        """Return those of a resource."""
        if owner is None:
            return MetricEnvironment()
        env = owner.env
        return MetricEnvironment(*(value if known(value) else None for value in (env.region, env.account)))


class ResourceMetrics:
    """Metrics that AWS publishes of one resource. A class of this kind names the service and its dimension.

    Args:
        resource: Name or id of the resource.
        owner: The resource, whose Region and account its metrics have. Default: those of the stack with the alarm or
            dashboard.
    """

    #: Namespace of the service in CloudWatch.
    namespace: ClassVar[str]
    #: Dimension that names the resource.
    dimension: ClassVar[str]
    #: Statistic of most metrics of the service.
    statistic: ClassVar[str] = "Average"
    #: Period of the metrics, in minutes.
    minutes: ClassVar[int] = 1

    def __init__(self, resource: str, owner: cdk.IResource | None = None) -> None:
        self._resource = resource
        self._owner = owner

    @property
    def period(self) -> cdk.Duration:
        """Period of the metrics."""
        return _duration(self.minutes)

    @checked_method
    def metric(
        self, name: str, statistic: str | None = None, *, period: cdk.Duration | None = None, **dimensions: str
    ) -> cloudwatch.Metric:
        """Return a metric of the resource.

        Args:
            name: Name in CloudWatch.
            statistic: Statistic that AWS calls valid for it. Default: that of this class.
            period: Default: the period of this class.
            dimensions: Dimensions besides the one that names the resource.
        """
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            dimensions_map={self.dimension: self._resource, **dimensions},
            statistic=statistic or self.statistic,
            period=period or self.period,
            region=self._environment.region,
            account=self._environment.account,
        )

    @cached_property
    def _environment(self) -> MetricEnvironment:
        return MetricEnvironment.of(self._owner)

    def _expression(self, expression: str, label: str, **metrics: cloudwatch.IMetric) -> cloudwatch.MathExpression:
        return cloudwatch.MathExpression(expression=expression, using_metrics=metrics, label=label, period=self.period)

    def _alarm(
        self, metric: Callable[[], cloudwatch.IMetric], threshold: float, periods: int, description: str
    ) -> AlarmDefinition:
        return AlarmDefinition(
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            period=self.period,
            description=description,
        )


@cache
def _duration(minutes: int) -> cdk.Duration:
    return cdk.Duration.minutes(minutes)
