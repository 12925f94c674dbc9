"""What CloudWatch knows of a file system of EFS."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.hardware.efs import CONNECTIONS
from ultracluster.storage.alarms import Alarm, make_alarms
from ultracluster.storage.home_metrics import AN_HOUR, PERIOD, STORAGE_PERIOD, HomeMetrics

_BUSY_PERCENT = 80


class EfsMetrics(HomeMetrics):
    """The metrics and alarms of one file system, for a subclass that knows its id.

    See: https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html (read 2026-11-21)
    """

    namespace = "AWS/EFS"

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Bytes that are billed, in all storage classes."""
        return cloudwatch.Metric(
            namespace="AWS/EFS",
            metric_name="StorageBytes",
            dimensions_map={"FileSystemId": self.file_system_id, "StorageClass": "Total"},
            statistic="Average",
            period=STORAGE_PERIOD,
        )

    def metric_throughput_utilization(self) -> cloudwatch.MathExpression:
        """Percent of the throughput that it may have at that time; a read counts for a third of a write.

        See: https://docs.aws.amazon.com/efs/latest/ug/monitoring-metric-math.html (read 2026-11-21)
        """
        return cloudwatch.MathExpression(
            expression="100 * (metered / PERIOD(metered)) / permitted",
            using_metrics={
                "metered": self.metric("MeteredIOBytes", "Sum"),
                "permitted": self.metric("PermittedThroughput", "Average"),
            },
            label="Throughput used (%)",
            period=PERIOD,
        )

    def metric_iops_utilization(self) -> cloudwatch.Metric:
        """Percent of the operations of the General Purpose mode."""
        return self.metric("PercentIOLimit", "Maximum")

    def metric_client_connections(self) -> cloudwatch.MathExpression:
        """Connections of clients, one of each node with the plain client; the mean of five minutes."""
        return self._connections()

    def alarms(self, topic: sns.ITopic, *, scope: Construct | None = None) -> list[cloudwatch.Alarm]:
        """Tell a topic when it nears its throughput, its operations or its connections. It never runs full.

        The topic's key, when it has one of its own, must let CloudWatch use it.
        """
        return make_alarms(
            Construct(scope or self, "Alarms"),
            topic,
            [
                Alarm(
                    id="Throughput",
                    metric=self.metric_throughput_utilization(),
                    above=_BUSY_PERCENT,
                    periods=AN_HOUR,
                    says="The home file system has been near its throughput for an hour, and elastic throughput is "
                    "billed by the byte: find the job that reads or writes data there",
                ),
                Alarm(
                    id="Iops",
                    metric=self.metric_iops_utilization(),
                    above=_BUSY_PERCENT,
                    periods=AN_HOUR,
                    says="The home file system has been near its limit of operations for an hour: find the job that "
                    "opens many small files there",
                ),
                Alarm(
                    id="Connections",
                    metric=self.metric_client_connections(),
                    above=CONNECTIONS * _BUSY_PERCENT // 100,
                    periods=3,
                    says=f"The home file system takes {CONNECTIONS:,} connections and no more, and it is near them",
                ),
            ],
        )
