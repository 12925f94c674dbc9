"""What CloudWatch knows of every home directory."""

from typing import ClassVar

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

#: Of most metrics.
PERIOD = cdk.Duration.minutes(5)
#: Periods of an hour: a burst that ends by itself wakes nobody.
AN_HOUR = 12
#: How often the size of what is elastic is published.
STORAGE_PERIOD = cdk.Duration.minutes(15)


class HomeMetrics(Construct):
    """The metrics of one file system, for a subclass that knows its service and its id."""

    #: Namespace of its service in CloudWatch.
    namespace: ClassVar[str]
    #: Id of the file system, such as `fs-0123456789abcdef0`.
    file_system_id: str

    def metric(self, name: str, statistic: str, period: cdk.Duration = PERIOD) -> cloudwatch.Metric:
        """A metric of the whole file system.

        Args:
            name: AWS's name, such as `ClientConnections`.
            statistic: One that AWS calls valid for it, such as `Sum`.
            period: Default: five minutes.
        """
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=name,
            dimensions_map={"FileSystemId": self.file_system_id},
            statistic=statistic,
            period=period,
        )

    def _connections(self) -> cloudwatch.MathExpression:
        """Connections where the only valid statistic is the sum, of one count a minute."""
        return cloudwatch.MathExpression(
            expression="connections / (PERIOD(connections) / 60)",
            using_metrics={"connections": self.metric("ClientConnections", "Sum")},
            label="Client connections",
            period=PERIOD,
        )
