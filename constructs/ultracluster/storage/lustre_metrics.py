"""What CloudWatch knows of a file system of FSx for Lustre, and when to call somebody."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.storage.alarms import Alarm, make_alarms

_PERIOD = cdk.Duration.minutes(1)
# A full OST fails writes while others have room. The first is when to act, the second when it hurts; choices of ours.
_FULL_PERCENT = 80
# Exports are batched; a queue that is an hour old does not keep up. A choice of ours.
_QUEUE_SECONDS = 3600
# The bottleneck from here on; the same figure as FSx's own performance warnings take.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-insights.html (read 2026-11-21)
_BUSY_PERCENT = 80


class LustreMetrics:
    """Metrics of one file system.

    FSx gives figures for each server and each storage target; these take the worst of them, because a job waits for the
    slowest server and a write fails on the fullest target.

    Args:
        file_system_id: Its id.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
    """

    def __init__(self, file_system_id: str) -> None:
        self._id = file_system_id

    def metric_free_capacity(self) -> cloudwatch.IMetric:
        """Bytes that are free on the fullest storage target."""
        return self._worst("MIN", "FreeDataStorageCapacity", "StorageTargetId", "bytes free on the fullest target")

    def metric_capacity_utilization(self) -> cloudwatch.IMetric:
        """How full the fullest storage target is, in percent."""
        return self._worst("MAX", "StorageCapacityUtilization", "StorageTargetId", "percent of the fullest target")

    def metric_disk_throughput_utilization(self) -> cloudwatch.IMetric:
        """Disk throughput of the busiest server, in percent of what it has."""
        return self._worst("MAX", "FileServerDiskThroughputUtilization", "FileServer", "disk percent, busiest server")

    def metric_network_throughput_utilization(self) -> cloudwatch.IMetric:
        """Network throughput of the busiest server, in percent of what it has."""
        return self._worst("MAX", "NetworkThroughputUtilization", "FileServer", "network percent, busiest server")

    def metric_iops_utilization(self) -> cloudwatch.IMetric:
        """Disk IOPS of the busiest storage target, in percent of what it has; not on SCRATCH_2."""
        return self._worst("MAX", "DiskIopsUtilization", "StorageTargetId", "IOPS percent, busiest target")

    def metric_metadata_utilization(self) -> cloudwatch.IMetric:
        """CPU of the busiest metadata server, in percent."""
        return self._worst("MAX", "CPUUtilization", "FileServer", "CPU percent, busiest metadata server")

    def metric_metadata_operations(self) -> cloudwatch.Metric:
        """Metadata operations of a minute."""
        return self._sum("MetadataOperations")

    def metric_read_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients read in a minute."""
        return self._sum("DataReadBytes")

    def metric_write_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients wrote in a minute."""
        return self._sum("DataWriteBytes")

    def metric_export_queue_age(self) -> cloudwatch.Metric:
        """Age in seconds of the oldest change that waits to be exported to S3; 0: all is there."""
        return cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name="AgeOfOldestQueuedMessage",
            dimensions_map={"FileSystemId": self._id, "Publisher": "AutoExport"},
            statistic="Maximum",
            period=_PERIOD,
        )

    def alarms(self, scope: Construct, topic: sns.ITopic, *, exports: bool) -> list[cloudwatch.Alarm]:
        """Alarms: a full storage target, servers and targets that are the bottleneck, exports that lag behind.

        Args:
            scope: Where they belong.
            topic: Who is told, of the alarm and of its end.
            exports: Whether an association exports to S3.
        """
        watched = [
            Alarm(
                id="Full", metric=self.metric_capacity_utilization(), above=_FULL_PERCENT, periods=5,
                says=f"A storage target of the Lustre file system is over {_FULL_PERCENT} % full. Once it is full, "
                "writes fail although others have room: delete, release what is in S3, or raise the capacity",
            ),
            Alarm(
                id="DiskBusy", metric=self.metric_disk_throughput_utilization(), above=_BUSY_PERCENT, periods=30,
                says=f"The busiest server of the Lustre file system has been over {_BUSY_PERCENT} % of its disk "
                "throughput for half an hour: find the job that reads or writes most, or raise the capacity",
            ),
            Alarm(
                id="NetworkBusy", metric=self.metric_network_throughput_utilization(), above=_BUSY_PERCENT, periods=30,
                says=f"The busiest server of the Lustre file system has been over {_BUSY_PERCENT} % of its network "
                "throughput for half an hour: it gives all that was bought. Find the job that reads or writes most, or "
                "raise the throughput",
            ),
            Alarm(
                id="IopsBusy", metric=self.metric_iops_utilization(), above=_BUSY_PERCENT, periods=30,
                says=f"The busiest storage target of the Lustre file system has been over {_BUSY_PERCENT} % of its "
                "IOPS for half an hour: find the file that all nodes read and stripe it, or the job that reads in "
                "small pieces",
            ),
            Alarm(
                id="MetadataBusy", metric=self.metric_metadata_utilization(), above=_BUSY_PERCENT, periods=30,
                says=f"The busiest metadata server of the Lustre file system has been over {_BUSY_PERCENT} % for half "
                "an hour: find the job that opens or lists many small files, or provision metadata IOPS",
            ),
        ]  # fmt: skip
        if exports:
            late = Alarm(
                id="ExportLags", metric=self.metric_export_queue_age(), above=_QUEUE_SECONDS, periods=15,
                says="Changes have waited for over an hour to reach S3: delete neither link nor file system until they "
                "have. Jobs write faster than FSx exports, or the bucket's policy or key keeps FSx out",
            )  # fmt: skip
            watched.append(late)
        return make_alarms(scope, topic, watched)

    def _sum(self, name: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="AWS/FSx",
            metric_name=name,
            dimensions_map={"FileSystemId": self._id},
            statistic="Sum",
            period=_PERIOD,
        )

    def _worst(self, which: str, name: str, by: str, label: str) -> cloudwatch.IMetric:
        """A query of CloudWatch Metrics Insights, which an alarm takes, unlike a search."""
        return cloudwatch.MathExpression(
            expression=f'SELECT {which}({name}) FROM SCHEMA("AWS/FSx", FileSystemId, {by}) '
            f"WHERE FileSystemId = '{self._id}'",
            using_metrics={},
            label=label,
            period=_PERIOD,
        )
