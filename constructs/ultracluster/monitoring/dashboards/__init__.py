"""Grafana and CloudWatch dashboards as data, and the builder that renders them as JSON."""

from ultracluster.monitoring.dashboards._all import (
    CLOUDWATCH_DASHBOARDS,
    DASHBOARDS,
    cloudwatch_dashboards,
    dashboards,
)
from ultracluster.monitoring.dashboards._build import build
from ultracluster.monitoring.dashboards._common import CLUSTER, MOST, of, together
from ultracluster.monitoring.dashboards._spec import (
    Dashboard,
    FsxQuery,
    LogsQuery,
    Panel,
    Query,
    Variable,
    series,
    stat,
    table,
    timeline,
)

__all__ = [
    "CLOUDWATCH_DASHBOARDS",
    "CLUSTER",
    "DASHBOARDS",
    "MOST",
    "Dashboard",
    "FsxQuery",
    "LogsQuery",
    "Panel",
    "Query",
    "Variable",
    "build",
    "cloudwatch_dashboards",
    "dashboards",
    "of",
    "series",
    "stat",
    "table",
    "timeline",
    "together",
]
