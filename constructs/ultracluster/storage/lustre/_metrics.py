"""CloudWatch metrics and alarms of FSx for Lustre."""

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.storage._alarms import AlarmDefinition
from ultracluster.storage._metrics import FileSystemMetrics

# A full OST fails writes while others have space. A choice of this library: early enough to act.
_FULL_PERCENT = 80
# Exports are batched; an export queue that is an hour old does not keep up. A choice of this library.
_QUEUE_SECONDS = 3600
# FSx's own performance warnings start here.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-insights.html (read 2026-11-21)
_BUSY_PERCENT = 80


class LustreMetrics(FileSystemMetrics):
    """Metrics of one file system.

    FSx publishes figures of each server and each storage target. These metrics take the worst of them: a job waits for
    the slowest server, and a write fails on the fullest target.

    Args:
        file_system_id: Id, such as `fs-0123456789abcdef0`.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
    """

    namespace = "AWS/FSx"
    minutes = 1

    def metric_free_capacity(self) -> cloudwatch.IMetric:
        """Free bytes of the fullest storage target."""
        return self._worst("MIN", "FreeDataStorageCapacity", "StorageTargetId", "bytes free on the fullest target")

    def metric_capacity_utilization(self) -> cloudwatch.IMetric:
        """Percent of the fullest storage target in use."""
        return self._worst("MAX", "StorageCapacityUtilization", "StorageTargetId", "percent of the fullest target")

    def metric_disk_throughput_utilization(self) -> cloudwatch.IMetric:
        """Disk throughput of the busiest server, in percent of its limit."""
        return self._worst("MAX", "FileServerDiskThroughputUtilization", "FileServer", "disk percent, busiest server")

    def metric_network_throughput_utilization(self) -> cloudwatch.IMetric:
        """Network throughput of the busiest server, in percent of its limit."""
        return self._worst("MAX", "NetworkThroughputUtilization", "FileServer", "network percent, busiest server")

    def metric_iops_utilization(self) -> cloudwatch.IMetric:
        """Disk IOPS of the busiest storage target, in percent of its limit; not on SCRATCH_2."""
        return self._worst("MAX", "DiskIopsUtilization", "StorageTargetId", "IOPS percent, busiest target")

    def metric_metadata_utilization(self) -> cloudwatch.IMetric:
        """CPU of the busiest metadata server, in percent."""
        return self._worst("MAX", "CPUUtilization", "FileServer", "CPU percent, busiest metadata server")

    def metric_metadata_operations(self) -> cloudwatch.Metric:
        """Metadata operations per minute."""
        return self.metric("MetadataOperations", "Sum")

    def metric_read_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients read per minute."""
        return self.metric("DataReadBytes", "Sum")

    def metric_write_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients write per minute."""
        return self.metric("DataWriteBytes", "Sum")

    def metric_export_queue_age(self) -> cloudwatch.Metric:
        """Age in seconds of the oldest change that is not exported to S3; 0 if all changes are exported."""
        return self.metric("AgeOfOldestQueuedMessage", "Maximum", Publisher="AutoExport")

    def _worst(self, function: str, name: str, dimension: str, label: str) -> cloudwatch.IMetric:
        """Return a query of CloudWatch Metrics Insights, which an alarm takes, unlike a search."""
        return cloudwatch.MathExpression(
            expression=f'SELECT {function}({name}) FROM SCHEMA("AWS/FSx", FileSystemId, {dimension}) '
            f"WHERE FileSystemId = '{self._id}'",
            using_metrics={},
            label=label,
            period=self.period,
        )

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms of a file system: a full storage target, bottlenecks, a slow export to S3."""

        def busy(metric: object, what: str, remedy: str) -> AlarmDefinition:
            return AlarmDefinition(
                metric=metric,  # type: ignore[arg-type]
                threshold=_BUSY_PERCENT,
                evaluation_periods=30,
                period=self.period,
                description=f"{what} has been over {{threshold}} % for {{minutes}} minutes: {remedy}",
            )

        return {
            "Full": AlarmDefinition(
                metric=self.metric_capacity_utilization,
                threshold=_FULL_PERCENT,
                evaluation_periods=5,
                period=self.period,
                description="A storage target of the Lustre file system is over {threshold} % full. Once it is full, "
                "writes fail although others have space: delete, release what is in S3, or raise the capacity",
            ),
            "DiskBusy": busy(
                self.metric_disk_throughput_utilization,
                "The disk throughput of the busiest server of the Lustre file system",
                "find the job that reads or writes most, or raise the capacity",
            ),
            "NetworkBusy": busy(
                self.metric_network_throughput_utilization,
                "The network throughput of the busiest server of the Lustre file system",
                "find the job that reads or writes most, or raise the throughput",
            ),
            "IopsBusy": busy(
                self.metric_iops_utilization,
                "The IOPS of the busiest storage target of the Lustre file system",
                "find the file that all nodes read and stripe it, or the job that reads in small pieces",
            ),
            "MetadataBusy": busy(
                self.metric_metadata_utilization,
                "The CPU of the busiest metadata server of the Lustre file system",
                "find the job that opens or lists many small files, or provision metadata IOPS",
            ),
            "ExportLags": AlarmDefinition(
                metric=self.metric_export_queue_age,
                threshold=_QUEUE_SECONDS,
                evaluation_periods=15,
                period=self.period,
                description="Changes have waited for over {threshold} seconds to reach S3: delete neither association "
                "nor file system until they are exported. Jobs write faster than FSx exports, or the bucket's policy "
                "or key denies FSx",
            ),
        }
