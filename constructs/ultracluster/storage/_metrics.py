"""CloudWatch metrics and alarms of file systems."""

from collections.abc import Callable, Mapping
from typing import ClassVar

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.storage._alarms import AlarmDefinition


class FileSystemMetrics:
    """Metrics of one file system.

    Args:
        file_system_id: Id, such as `fs-0123456789abcdef0`.
    """

    #: Namespace of the service in CloudWatch.
    namespace: ClassVar[str] = "AWS/FSx"
    #: Period of the metrics, in minutes.
    minutes: ClassVar[int] = 5

    def __init__(self, file_system_id: str) -> None:
        self._id = file_system_id

    @property
    def period(self) -> cdk.Duration:
        """Period of the metrics."""
        return cdk.Duration.minutes(self.minutes)

    def metric(
        self, name: str, statistic: str, *, period: cdk.Duration | None = None, **dimensions: str
    ) -> cloudwatch.Metric:
        """Return a metric of the file system.

        Args:
            name: Name in CloudWatch, such as `ClientConnections`.
            statistic: Statistic that AWS calls valid for it, such as `Sum`.
            period: Default: the period of this class.
            dimensions: Dimensions besides FileSystemId.
        """
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            dimensions_map={"FileSystemId": self._id, **dimensions},
            statistic=statistic,
            period=period or self.period,
        )

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms by name."""
        raise NotImplementedError

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
