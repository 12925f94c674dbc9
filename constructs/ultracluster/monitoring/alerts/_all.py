"""Every alert."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.monitoring.alerts._alert import Alert
from ultracluster.monitoring.alerts._cluster import CLUSTER_ALERTS
from ultracluster.monitoring.alerts._gpu import GPU_ALERTS
from ultracluster.monitoring.alerts._job import JOB_ALERTS
from ultracluster.monitoring.alerts._node import NODE_ALERTS

#: By name, in the order in which they are evaluated.
ALERTS: Mapping[str, Alert] = MappingProxyType(
    {alert.name: alert for alert in (*GPU_ALERTS, *NODE_ALERTS, *JOB_ALERTS, *CLUSTER_ALERTS)}
)

#: The alert that always fires, and reads no metric.
WATCHDOG = "Watchdog"
