"""The Grafana and CloudWatch dashboards as data, and the builder that renders them as JSON.

`python -m ultracluster.monitoring.dashboards.builder` writes the JSON that the package ships. Only the builder needs
grafana-foundation-sdk.
"""

from ultracluster.monitoring.dashboards.builder._build import build
from ultracluster.monitoring.dashboards.builder._common import CLUSTER, MOST, of, together
from ultracluster.monitoring.dashboards.builder._fleet import FLEET
from ultracluster.monitoring.dashboards.builder._goodput import GOODPUT
from ultracluster.monitoring.dashboards.builder._inference import INFERENCE
from ultracluster.monitoring.dashboards.builder._job import JOB_DASHBOARD
from ultracluster.monitoring.dashboards.builder._lustre_servers import LUSTRE_SERVERS
from ultracluster.monitoring.dashboards.builder._network import NETWORK
from ultracluster.monitoring.dashboards.builder._node import NODE_DASHBOARD
from ultracluster.monitoring.dashboards.builder._pipeline import PIPELINE
from ultracluster.monitoring.dashboards.builder._scheduler import SCHEDULER
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, series, stat, table, timeline
from ultracluster.monitoring.dashboards.builder._storage import STORAGE

#: From the fleet down to the node, then what stands beside.
DASHBOARDS: tuple[Dashboard, ...] = (
    FLEET,
    JOB_DASHBOARD,
    NODE_DASHBOARD,
    NETWORK,
    STORAGE,
    SCHEDULER,
    GOODPUT,
    INFERENCE,
    PIPELINE,
)

#: For whoever has a file system of FSx for Lustre, and CloudWatch as a data source.
CLOUDWATCH_DASHBOARDS: tuple[Dashboard, ...] = (LUSTRE_SERVERS,)

__all__ = [
    "CLOUDWATCH_DASHBOARDS",
    "CLUSTER",
    "DASHBOARDS",
    "MOST",
    "Dashboard",
    "build",
    "of",
    "series",
    "stat",
    "table",
    "timeline",
    "together",
]
