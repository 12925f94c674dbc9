"""Every dashboard."""

import hashlib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ultracluster.catalogue.monitoring import AMAZON_PROMETHEUS_PLUGIN
from ultracluster.monitoring.dashboards._build import build
from ultracluster.monitoring.dashboards._fleet import FLEET
from ultracluster.monitoring.dashboards._goodput import GOODPUT
from ultracluster.monitoring.dashboards._inference import INFERENCE
from ultracluster.monitoring.dashboards._job import JOB_DASHBOARD
from ultracluster.monitoring.dashboards._logs import KUBERNETES_FIELDS, SLURM_FIELDS, UID, logs_dashboard
from ultracluster.monitoring.dashboards._lustre_servers import LUSTRE_SERVERS
from ultracluster.monitoring.dashboards._network import NETWORK
from ultracluster.monitoring.dashboards._node import NODE_DASHBOARD
from ultracluster.monitoring.dashboards._pipeline import PIPELINE
from ultracluster.monitoring.dashboards._runbooks import RUNBOOKS
from ultracluster.monitoring.dashboards._scheduler import SCHEDULER
from ultracluster.monitoring.dashboards._spec import Dashboard
from ultracluster.monitoring.dashboards._storage import STORAGE
from ultracluster.rules import Refusal

#: From the fleet down to the node, then the others.
DASHBOARDS: tuple[Dashboard, ...] = (
    *(FLEET, JOB_DASHBOARD, NODE_DASHBOARD, NETWORK, STORAGE, SCHEDULER, GOODPUT, INFERENCE, PIPELINE),
)
#: With CloudWatch as a data source.
CLOUDWATCH_DASHBOARDS: tuple[Dashboard, ...] = (LUSTRE_SERVERS, logs_dashboard("/ultracluster/", SLURM_FIELDS))
# Data sources whose queries are PromQL. Grafana 13 turns a core one that signs with SigV4 into Amazon's:
# https://docs.aws.amazon.com/grafana/latest/userguide/using-grafana-v13.html (read 2026-11-20).
_CORE = "prometheus"
_SOURCES = (_CORE, AMAZON_PROMETHEUS_PLUGIN)


def dashboards(*, data_source: str = _CORE, logs: bool = False, container_insights: bool = False) -> Mapping[str, str]:
    """Return the JSON of each dashboard, by uid.

    Each dashboard has a variable for the data source, among those of one type.

    Args:
        data_source: Type of the data source: `prometheus` or `grafana-amazonprometheus-datasource`.
        logs: True to link to the dashboard of the logs, which `cloudwatch_dashboards` has for `log_groups`.
        container_insights: As for `cloudwatch_dashboards`.

    Raises:
        Refusal: If `data_source` is another type.
    """
    if data_source not in _SOURCES:
        raise Refusal("", f"data_source must be {' or '.join(_SOURCES)}, got {data_source!r}")
    return _texts(data_source, UID if logs else None, container_insights)


def source_uid(cluster: str, kind: str = "ultracluster") -> str:
    """Return the uid of a data source of a cluster in Amazon Managed Grafana: 40 characters at most."""
    return f"{kind}-{cluster if len(cluster) <= 27 else hashlib.sha256(cluster.encode()).hexdigest()[:27]}"


@cache
def _texts(data_source: str, logs: str | None, by_name: bool) -> Mapping[str, str]:
    # A fifth of the Python time of a synthesis, and the same for most clusters.
    texts = {
        board.uid: build(board, logs=logs, by_name=by_name).replace(f'"{_CORE}"', f'"{data_source}"')
        for board in (*DASHBOARDS, RUNBOOKS)
    }
    return MappingProxyType(dict(sorted(texts.items())))


def cloudwatch_dashboards(
    *, lustre: bool = True, log_groups: str | None = None, container_insights: bool = False
) -> Mapping[str, str]:
    """Return the JSON of each dashboard with CloudWatch as data source, by uid.

    The data source, the file system and the log group are variables.

    Args:
        lustre: True for the dashboard of the servers of FSx for Lustre.
        log_groups: Prefix of log groups, for the dashboard of the logs: `/ultracluster/` for `slurm.PcsNodeLogs`.
            Default: no such dashboard.
        container_insights: True if the add-on amazon-cloudwatch-observability writes the logs: the prefix is then
            `/aws/containerinsights/CLUSTER/application`.
    """
    boards = [LUSTRE_SERVERS] if lustre else []
    if log_groups is not None:
        boards.append(logs_dashboard(log_groups, KUBERNETES_FIELDS if container_insights else SLURM_FIELDS))
    return MappingProxyType({board.uid: build(board) for board in boards})
