"""What every home directory offers, whichever service keeps it, and whoever made it."""

from typing import Protocol

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.planning import Mount, Volume


class HomeDirectory(Protocol):
    """A shared file system for small files that people edit: code, environments, logs. Checkpoints go elsewhere."""

    def mount(self, path: str) -> Mount:
        """What a Slurm node needs to mount it at a path."""
        ...

    def volume(self, name: str) -> Volume:
        """What Kubernetes needs to mount it."""
        ...

    def metric_used_storage(self) -> cloudwatch.IMetric:
        """Bytes stored."""
        ...

    def metric_client_connections(self) -> cloudwatch.IMetric:
        """Connections of clients."""
        ...

    def alarms(self, topic: sns.ITopic, *, scope: Construct | None = None) -> list[cloudwatch.Alarm]:
        """Tell a topic before people notice. `scope` is where the alarms belong; default: to the home."""
        ...
