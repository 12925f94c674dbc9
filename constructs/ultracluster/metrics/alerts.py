"""Every alert."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.metrics.alert import Alert
from ultracluster.metrics.alerts_cluster import CLUSTER_ALERTS
from ultracluster.metrics.alerts_gpu import GPU_ALERTS
from ultracluster.metrics.alerts_job import JOB_ALERTS
from ultracluster.metrics.alerts_node import NODE_ALERTS

#: By name, in the order in which they are evaluated.
ALERTS: Mapping[str, Alert] = MappingProxyType(
    {alert.name: alert for alert in (*GPU_ALERTS, *NODE_ALERTS, *JOB_ALERTS, *CLUSTER_ALERTS)}
)

#: The one that always fires, and reads nothing.
WATCHDOG = "Watchdog"
