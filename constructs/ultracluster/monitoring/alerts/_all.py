"""Every alert."""

from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.monitoring.alerts._alert import Alert
from ultracluster.monitoring.alerts._cluster import CLUSTER_ALERTS
from ultracluster.monitoring.alerts._gpu import GPU_ALERTS
from ultracluster.monitoring.alerts._job import JOB_ALERTS
from ultracluster.monitoring.alerts._node import NODE_ALERTS
from ultracluster.monitoring.alerts._storage import STORAGE_ALERTS

_FAMILIES = {"gpu": GPU_ALERTS, "node": (*NODE_ALERTS, *STORAGE_ALERTS), "job": JOB_ALERTS, "cluster": CLUSTER_ALERTS}
#: By name, in the order in which they are evaluated.
ALERTS: Mapping[str, Alert] = MappingProxyType({alert.name: alert for family in _FAMILIES.values() for alert in family})
#: Rule group of each alert.
FAMILY_OF: Mapping[str, str] = MappingProxyType(
    {alert.name: name for name, family in _FAMILIES.items() for alert in family}
)

#: The alert that always fires, and reads no metric.
WATCHDOG = "Watchdog"

#: Uid of the dashboard of the runbooks.
RUNBOOKS = "ultracluster-runbooks"


def runbook_path(alert: str) -> str:
    """Return the path of the runbook of an alert, below the address of Grafana: a panel by its number.

    The panels are in the order of `ALERTS`, after that of their row.
    """
    return f"/d/{RUNBOOKS}?viewPanel={[*ALERTS].index(alert) + 2}"
