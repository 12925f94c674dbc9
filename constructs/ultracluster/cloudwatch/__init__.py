"""Metrics and alarms of constructs in Amazon CloudWatch: one shape for all.

For the resources of AWS, such as a file system. Nodes and jobs are monitored by Prometheus: see `monitoring`.
"""

from ultracluster.cloudwatch._alarms import AlarmDefinition as AlarmDefinition
from ultracluster.cloudwatch._alarms import Alarms as Alarms
from ultracluster.cloudwatch._metrics import MetricEnvironment as MetricEnvironment
from ultracluster.cloudwatch._metrics import ResourceMetrics as ResourceMetrics
