"""CloudWatch metrics and alarms of file systems."""

from collections.abc import Mapping

from ultracluster.cloudwatch import AlarmDefinition, ResourceMetrics


class FileSystemMetrics(ResourceMetrics):
    """Metrics of one file system, such as `fs-0123456789abcdef0`."""

    namespace = "AWS/FSx"
    dimension = "FileSystemId"
    minutes = 5

    def alarm_definitions(self) -> Mapping[str, AlarmDefinition]:
        """Alarms by name."""
        raise NotImplementedError
