"""The Grafana dashboards, as data, and what turns them into JSON. Not shipped: the JSON is, as data of the package.

`python -m dashboards` writes constructs/ultracluster/metrics/dashboards/*.json anew. It needs grafana-foundation-sdk,
which nobody else does.
"""

from dashboards.fleet import FLEET
from dashboards.goodput import GOODPUT
from dashboards.inference import INFERENCE
from dashboards.job import JOB_DASHBOARD
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

__all__ = ["DASHBOARDS"]
