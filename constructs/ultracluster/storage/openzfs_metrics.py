"""What CloudWatch knows of a file system of FSx for OpenZFS."""

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.hardware.openzfs import FULL_PERCENT
from ultracluster.storage.alarms import Alarm, make_alarms
from ultracluster.storage.home_metrics import AN_HOUR, PERIOD, HomeMetrics

_BUSY_PERCENT = 90


class OpenZfsMetrics(HomeMetrics):
    """The metrics and alarms of one file system, for a subclass that knows its id.

    See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/fsx-openzfs-metrics.html (read 2026-11-21)
    """

    namespace = "AWS/FSx"

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Bytes of SSD storage in use, snapshots included."""
        return self.metric("UsedStorageCapacity", "Average")

    def metric_storage_utilization(self) -> cloudwatch.MathExpression:
        """Percent of the SSD storage in use."""
        return cloudwatch.MathExpression(
            expression="100 * used / capacity",
            using_metrics={
                "used": self.metric_used_storage(),
                "capacity": self.metric("StorageCapacity", "Average"),
            },
            label="Storage used (%)",
            period=PERIOD,
        )

    def metric_throughput_utilization(self) -> cloudwatch.Metric:
        """Percent of the disk throughput that its throughput capacity brings."""
        return self.metric("FileServerDiskThroughputUtilization", "Average")

    def metric_network_utilization(self) -> cloudwatch.Metric:
        """Percent of the network throughput, in the busier direction; what caches serve is seen here only."""
        return self.metric("NetworkThroughputUtilization", "Average")

    def metric_iops_utilization(self) -> cloudwatch.Metric:
        """Percent of the SSD IOPS."""
        return self.metric("DiskIopsUtilization", "Average")

    def metric_client_connections(self) -> cloudwatch.Metric:
        """TCP connections of clients, several of each node; the most at once."""
        return self.metric("ClientConnections", "Maximum")

    def alarms(self, topic: sns.ITopic, *, scope: Construct | None = None) -> list[cloudwatch.Alarm]:
        """Tell a topic when it fills up, or has been at its limit for an hour.

        The topic's key, when it has one of its own, must let CloudWatch use it.

        See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance-insights-FSxZ.html (read 2026-11-21)
        """
        return make_alarms(
            Construct(scope or self, "Alarms"),
            topic,
            [
                Alarm(
                    id="Storage",
                    metric=self.metric_storage_utilization(),
                    above=FULL_PERCENT,
                    periods=3,
                    says=f"The home file system is over {FULL_PERCENT} % full and becomes slow: clean up, or raise its "
                    "capacity by ten percent or more",
                ),
                Alarm(
                    id="Throughput",
                    metric=self.metric_throughput_utilization(),
                    above=_BUSY_PERCENT,
                    periods=AN_HOUR,
                    says="The home file system has been at its throughput for an hour: find the job that reads or "
                    "writes data there, or raise the throughput capacity",
                ),
                Alarm(
                    id="Iops",
                    metric=self.metric_iops_utilization(),
                    above=_BUSY_PERCENT,
                    periods=AN_HOUR,
                    says="The home file system has been at its SSD IOPS for an hour: find the job that opens many "
                    "small files there, or raise its IOPS",
                ),
            ],
        )
