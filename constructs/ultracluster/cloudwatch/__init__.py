"""Metrics and alarms of constructs in Amazon CloudWatch: one shape for all."""

from ultracluster.cloudwatch._alarms import AlarmDefinition, Alarms
from ultracluster.cloudwatch._metrics import ResourceMetrics

__all__ = ["AlarmDefinition", "Alarms", "ResourceMetrics"]
