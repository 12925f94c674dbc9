"""CloudWatch metrics and alarms of FSx for Lustre."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from ultracluster.catalogue.storage import lustre_metadata
from ultracluster.cloudwatch import AlarmDefinition
from ultracluster.planning import checked_method, shown
from ultracluster.rules import Refusal
from ultracluster.storage._metrics import FileSystemMetrics

# A full OST fails writes while others have space. A choice of this library: early enough to act.
_FULL_PERCENT = 80
# Exports are batched; an export queue that is an hour old does not keep up. A choice of this library.
_QUEUE_SECONDS = 3600
# FSx's own performance warnings start here.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-insights.html (read 2026-11-21)
_BUSY_PERCENT = 80
# An alarm takes ten metrics of an expression, two for each target.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html (read 2026-11-25)
_MOST_TARGETS = 5


class AssociationMetrics(FileSystemMetrics):
    """Metrics of the queues between a file system and S3. FSx counts for the whole file system.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
    """

    @checked_method
    def metric_age_of_oldest_queued_message(
        self, publisher: Literal["AutoExport", "AutoImport"] = "AutoExport"
    ) -> cloudwatch.Metric:
        """Seconds for which the oldest change has waited to be exported, or imported; zero if none waits.

        FSx drops imports that wait 14 days, and exports that wait when the association or file system is deleted.

        Args:
            publisher: Which of the two queues.

        Raises:
            Refusal: If there is no such queue.
        """
        if publisher not in ("AutoExport", "AutoImport"):
            raise Refusal("", f"publisher must be AutoExport or AutoImport, got {shown(publisher)}")
        return self.metric("AgeOfOldestQueuedMessage", "Maximum", Publisher=publisher)

    def metric_repository_rename_operations(self) -> cloudwatch.Metric:
        """Renames of objects due to renamed directories: the most frequent reason of a long export queue."""
        return self.metric("RepositoryRenameOperations", "Sum", Publisher="AutoExport")

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms of an association: exports or imports that wait for over an hour."""
        return {
            f"{name}Lags": self._alarm(
                partial(self.metric_age_of_oldest_queued_message, publisher),  # type: ignore[arg-type]
                _QUEUE_SECONDS,
                3,
                f"Changes have waited for over {{threshold}} seconds to be {done}: {remedy}",
            )
            for name, publisher, done, remedy in (
                ("Export", "AutoExport", "exported to S3", "delete neither association nor file system"),
                ("Import", "AutoImport", "imported from S3", "FSx drops what waits for 14 days"),
            )
        }


class LustreMetrics(AssociationMetrics):
    """Metrics of one file system, and of the queues between it and S3.

    FSx publishes figures of each server and each storage target. These metrics take the worst of them: a job waits for
    the slowest server, and a write fails on the fullest target.

    Args:
        file_system_id: Id, such as `fs-0123456789abcdef0`.
        owner: The file system, whose Region and account the metrics have. Default: those of their stack.
        metadata_iops: Metadata IOPS, included or provisioned. Without them there is no metric of their utilization. By
            default, not known.
        export_failures: Creates the metric of files that FSx could not export, which its log shows. By default, not
            known.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html (read 2026-11-21)
    """

    minutes = 1

    def __init__(
        self,
        file_system_id: str,
        owner: cdk.IResource | None = None,
        *,
        metadata_iops: int | None = None,
        export_failures: Callable[[], cloudwatch.Metric] | None = None,
    ) -> None:
        super().__init__(file_system_id, owner)
        self._metadata_iops = metadata_iops
        self._export_failures = export_failures

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

    def metric_metadata_iops_utilization(self) -> cloudwatch.IMetric | None:
        """Disk IOPS of the busiest metadata target, in percent of its share of the metadata IOPS.

        None if the metadata IOPS are not known. Of more than five targets the first five are read.

        See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html (read 2026-11-25)
        """
        if self._metadata_iops is None:
            return None
        servers = lustre_metadata.metadata_servers(self._metadata_iops)
        targets = range(min(servers, _MOST_TARGETS))
        metrics = {
            f"{name[4].lower()}{target}": self.metric(name, "Sum", StorageTargetId=f"MDT{target:04d}")
            for target in targets
            for name in ("DiskReadOperations", "DiskWriteOperations")
        }
        busiest = "MAX([" + ", ".join(f"r{target} + w{target}" for target in targets) + "])"
        percent = f"100 * {busiest} / PERIOD(r0) / {self._metadata_iops / servers:g}"
        return self._expression(percent, "metadata IOPS percent, busiest target", **metrics)

    def metric_export_failures(self) -> cloudwatch.Metric | None:
        """Files that FSx could not export to S3; None if the log of the file system is not known."""
        return None if self._export_failures is None else self._export_failures()

    def metric_read_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients read per minute."""
        return self.metric("DataReadBytes", "Sum")

    def metric_write_bytes(self) -> cloudwatch.Metric:
        """Bytes that clients write per minute."""
        return self.metric("DataWriteBytes", "Sum")

    def _worst(self, function: str, name: str, dimension: str, label: str) -> cloudwatch.IMetric:
        """Return a query of CloudWatch Metrics Insights, which an alarm takes, unlike a search."""
        schema = f'SCHEMA("{self.namespace}", FileSystemId, {dimension})'
        return self._expression(
            f"SELECT {function}({name}) FROM {schema} WHERE FileSystemId = '{self._resource}'", label
        )

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms of a file system: a full storage target, bottlenecks, a slow export to S3 or import from it."""

        def busy(metric: Callable[[], cloudwatch.IMetric], what: str, remedy: str) -> AlarmDefinition:
            text = f"{what} of the Lustre file system has been over {{threshold}} % for {{minutes}} minutes: {remedy}"
            return self._alarm(metric, _BUSY_PERCENT, 30, text)

        return {
            "Full": self._alarm(
                self.metric_capacity_utilization,
                _FULL_PERCENT,
                5,
                "A storage target of the Lustre file system is over {threshold} % full. Once it is full, writes fail "
                "although others have space: delete, release what is in S3, or raise the capacity",
            ),
            "DiskBusy": busy(
                self.metric_disk_throughput_utilization,
                "The disk throughput of the busiest server",
                "find the job that reads or writes most, or raise the capacity",
            ),
            "NetworkBusy": busy(
                self.metric_network_throughput_utilization,
                "The network throughput of the busiest server",
                "find the job that reads or writes most, or raise the throughput",
            ),
            "IopsBusy": busy(
                self.metric_iops_utilization,
                "The IOPS of the busiest storage target",
                "find the file that all nodes read and stripe it, or the job that reads in small pieces",
            ),
            "MetadataBusy": busy(
                self.metric_metadata_utilization,
                "The CPU of the busiest metadata server",
                "find the job that opens or lists many small files, or provision metadata IOPS",
            ),
            **(
                {}
                if self._metadata_iops is None
                else {
                    "MetadataIopsBusy": busy(
                        self.metric_metadata_iops_utilization,  # type: ignore[arg-type]
                        "The use of the metadata IOPS",
                        "find the job that opens or lists many small files, or raise metadata-iops",
                    )
                }
            ),
            "ExportLags": self._alarm(
                self.metric_age_of_oldest_queued_message,
                _QUEUE_SECONDS,
                15,
                "Changes have waited for over {threshold} seconds to reach S3: delete neither association nor file "
                "system until they are exported. Jobs write faster than FSx exports, or the bucket's policy or key "
                "denies FSx",
            ),
            "ImportLags": super().alarm_definitions()["ImportLags"],
            **(
                {}
                if self._export_failures is None
                else {
                    "ExportFails": self._alarm(
                        self._export_failures,
                        0,
                        1,
                        "FSx could not export files of the Lustre file system: they are not in S3. Its log group has "
                        "their keys and the reason: docs/guides/storage.md#when-data-can-be-lost",
                    )
                }
            ),
        }
