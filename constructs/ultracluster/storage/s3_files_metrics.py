"""What CloudWatch knows of a file system of S3 Files."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.storage.alarms import Alarm, make_alarms
from ultracluster.storage.home_metrics import AN_HOUR, STORAGE_PERIOD, HomeMetrics

_OLD = cdk.Duration.hours(1)


class S3FilesMetrics(HomeMetrics):
    """The metrics and alarms of one file system, for a subclass that knows its id.

    S3 Files publishes no utilisation: its throughput and its operations have no limit that a metric tells.

    See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-monitoring-cloudwatch.html (read 2026-11-21)
    """

    namespace = "AWS/S3/Files"

    def metric_used_storage(self) -> cloudwatch.Metric:
        """Bytes in its fast storage; what nobody reads for a while is in the bucket only."""
        return self.metric("StorageBytes", "Average", STORAGE_PERIOD)

    def metric_client_connections(self) -> cloudwatch.MathExpression:
        """Connections of clients; the mean of five minutes."""
        return self._connections()

    def metric_export_age(self) -> cloudwatch.Metric:
        """Seconds that the oldest change waits to reach the bucket."""
        return self.metric("ExportAge", "Maximum")

    def metric_export_failures(self) -> cloudwatch.Metric:
        """Files that will never reach the bucket by themselves."""
        return self.metric("ExportFailures", "Sum")

    def metric_lost_and_found(self) -> cloudwatch.Metric:
        """Files that lost against a change in the bucket; their versions are not in the bucket."""
        return self.metric("LostAndFoundFiles", "Sum")

    def alarms(self, topic: sns.ITopic, *, scope: Construct | None = None) -> list[cloudwatch.Alarm]:
        """Tell a topic when files do not reach the bucket, or are in conflict with it.

        The topic's key, when it has one of its own, must let CloudWatch use it.
        """
        return make_alarms(
            Construct(scope or self, "Alarms"),
            topic,
            [
                Alarm(
                    id="ExportAge",
                    metric=self.metric_export_age(),
                    above=_OLD.to_seconds(),
                    periods=AN_HOUR,
                    says="Changes of home directories wait for over an hour to reach their bucket: a job writes more "
                    "files than S3 Files exports, 800 a second",
                ),
                Alarm(
                    id="ExportFailures",
                    metric=self.metric_export_failures(),
                    above=0,
                    periods=1,
                    says="Files of home directories cannot reach their bucket, and nothing tries again: look at the "
                    "role's permissions, at paths over 1,024 bytes and at the bucket's key",
                ),
                Alarm(
                    id="LostAndFound",
                    metric=self.metric_lost_and_found(),
                    above=0,
                    periods=1,
                    says="A home directory and its bucket changed the same file: the bucket won, the other version is "
                    "in .s3files-lost+found of the home",
                ),
            ],
        )
