"""The Grafana dashboards, as data, and what turns them into JSON. Not shipped: the JSON is, as data of the package.

`python -m dashboards` writes the JSON in constructs/ultracluster/metrics anew. It needs grafana-foundation-sdk,
which nobody else does.
"""

from dashboards.fleet import FLEET
from dashboards.goodput import GOODPUT
from dashboards.inference import INFERENCE
from dashboards.job import JOB_DASHBOARD
from dashboards.lustre_servers import LUSTRE_SERVERS
from dashboards.network import NETWORK
from dashboards.node import NODE_DASHBOARD
from dashboards.pipeline import PIPELINE
from dashboards.scheduler import SCHEDULER
from dashboards.spec import Dashboard
from dashboards.storage import STORAGE

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

__all__ = ["CLOUDWATCH_DASHBOARDS", "DASHBOARDS"]
