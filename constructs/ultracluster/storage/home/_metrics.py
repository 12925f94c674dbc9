"""CloudWatch metrics and alarms of home file systems."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.catalogue.storage import efs, openzfs
from ultracluster.cloudwatch import AlarmDefinition
from ultracluster.storage._metrics import FileSystemMetrics

# Periods of an hour: a shorter peak needs no action.
_HOUR = 12
_EFS_BUSY_PERCENT = 80
_OPENZFS_BUSY_PERCENT = 90
_QUEUE_SECONDS = 3600


class _HomeMetrics(FileSystemMetrics):
    def _mean_connections(self) -> cloudwatch.MathExpression:
        """Client connections where the only valid statistic is the sum, with one count per minute."""
        return self._expression(
            "connections / (PERIOD(connections) / 60)",
            "Client connections",
            connections=self.metric("ClientConnections", "Sum"),
        )


class OpenZfsMetrics(FileSystemMetrics):
    """Metrics of one file system of FSx for OpenZFS.

    See: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/fsx-openzfs-metrics.html and
    https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance-insights-FSxZ.html (read 2026-11-21)
    """

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Bytes of SSD storage in use, snapshots included."""
        return self.metric("UsedStorageCapacity", "Average")

    def metric_storage_utilization(self) -> cloudwatch.MathExpression:
        """Percent of the SSD storage in use."""
        return self._expression(
            "100 * used / capacity",
            "Storage used (%)",
            used=self.metric_used_storage(),
            capacity=self.metric("StorageCapacity", "Average"),
        )

    def metric_throughput_utilization(self) -> cloudwatch.Metric:
        """Percent of the disk throughput of the throughput capacity."""
        return self.metric("FileServerDiskThroughputUtilization", "Average")

    def metric_network_utilization(self) -> cloudwatch.Metric:
        """Percent of the network throughput, in the busier direction; it includes reads from the cache."""
        return self.metric("NetworkThroughputUtilization", "Average")

    def metric_iops_utilization(self) -> cloudwatch.Metric:
        """Percent of the SSD IOPS."""
        return self.metric("DiskIopsUtilization", "Average")

    def metric_client_connections(self) -> cloudwatch.Metric:
        """Maximum of TCP connections of clients, several per node."""
        return self.metric("ClientConnections", "Maximum")

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms: nearly full, and at a limit for an hour."""
        return {
            "Storage": self._alarm(
                self.metric_storage_utilization,
                openzfs.FULL_PERCENT,
                3,
                "The home file system is over {threshold} % full and becomes slow: delete files, or raise its capacity "
                "by ten percent or more",
            ),
            "Throughput": self._alarm(
                self.metric_throughput_utilization,
                _OPENZFS_BUSY_PERCENT,
                _HOUR,
                "The home file system has been over {threshold} % of its throughput for {minutes} minutes: find the "
                "job that reads or writes data there, or raise the throughput capacity",
            ),
            "Iops": self._alarm(
                self.metric_iops_utilization,
                _OPENZFS_BUSY_PERCENT,
                _HOUR,
                "The home file system has been over {threshold} % of its SSD IOPS for {minutes} minutes: find the job "
                "that opens many small files there, or raise its IOPS",
            ),
        }


class EfsMetrics(_HomeMetrics):
    """Metrics of one file system of EFS. It is never full.

    See: https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html (read 2026-11-21)
    """

    namespace = "AWS/EFS"

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Billed bytes, in all storage classes."""
        return self.metric("StorageBytes", "Average", period=cdk.Duration.minutes(15), StorageClass="Total")

    def metric_throughput_utilization(self) -> cloudwatch.MathExpression:
        """Percent of the permitted throughput; a read counts for a third of a write.

        See: https://docs.aws.amazon.com/efs/latest/ug/monitoring-metric-math.html (read 2026-11-21)
        """
        return self._expression(
            "100 * (metered / PERIOD(metered)) / permitted",
            "Throughput used (%)",
            metered=self.metric("MeteredIOBytes", "Sum"),
            permitted=self.metric("PermittedThroughput", "Average"),
        )

    def metric_iops_utilization(self) -> cloudwatch.Metric:
        """Percent of the operations of the General Purpose mode."""
        return self.metric("PercentIOLimit", "Maximum")

    def metric_client_connections(self) -> cloudwatch.MathExpression:
        """Connections of clients, one per node with the plain client; the mean of five minutes."""
        return self._mean_connections()

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms: near the limit of throughput, operations or connections."""
        return {
            "Throughput": self._alarm(
                self.metric_throughput_utilization,
                _EFS_BUSY_PERCENT,
                _HOUR,
                "The home file system has been over {threshold} % of its throughput for {minutes} minutes, and AWS "
                "bills elastic throughput by the byte: find the job that reads or writes data there",
            ),
            "Iops": self._alarm(
                self.metric_iops_utilization,
                _EFS_BUSY_PERCENT,
                _HOUR,
                "The home file system has been over {threshold} % of its operations for {minutes} minutes: find the "
                "job that opens many small files there",
            ),
            "Connections": self._alarm(
                self.metric_client_connections,
                efs.CONNECTIONS * _EFS_BUSY_PERCENT // 100,
                3,
                f"The home file system has over {{threshold}} connections; its limit is {efs.CONNECTIONS:,}",
            ),
        }


class S3FilesMetrics(_HomeMetrics):
    """Metrics of one file system of S3 Files, which publishes no utilization.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-monitoring-cloudwatch.html (read 2026-11-21)
    """

    namespace = "AWS/S3/Files"

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Bytes in the fast storage; files without recent reads are in the bucket only."""
        return self.metric("StorageBytes", "Average", period=cdk.Duration.minutes(15))

    def metric_client_connections(self) -> cloudwatch.MathExpression:
        """Connections of clients; the mean of five minutes."""
        return self._mean_connections()

    def metric_export_age(self) -> cloudwatch.Metric:
        """Seconds for which the oldest change has waited to reach the bucket."""
        return self.metric("ExportAge", "Maximum")

    def metric_export_failures(self) -> cloudwatch.Metric:
        """Files whose export S3 Files does not retry."""
        return self.metric("ExportFailures", "Sum")

    def metric_lost_and_found(self) -> cloudwatch.Metric:
        """Files in conflict with a change in the bucket; their versions are not in the bucket."""
        return self.metric("LostAndFoundFiles", "Sum")

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms: files do not reach the bucket, or are in conflict with it."""
        return {
            "ExportAge": self._alarm(
                self.metric_export_age,
                _QUEUE_SECONDS,
                _HOUR,
                "Changes of home directories wait for over {threshold} seconds to reach their bucket: a job writes "
                "more files than S3 Files exports, 800 per second",
            ),
            "ExportFailures": self._alarm(
                self.metric_export_failures,
                0,
                1,
                "Files of home directories cannot reach their bucket, and S3 Files does not retry: check the role's "
                "permissions, paths over 1,024 bytes and the bucket's key",
            ),
            "LostAndFound": self._alarm(
                self.metric_lost_and_found,
                0,
                1,
                "A home directory and its bucket changed the same file: the bucket's version is kept, the other "
                "version is in .s3files-lost+found of the home",
            ),
        }
