"""Grafana and CloudWatch dashboards as data, and the builder that renders them as JSON."""

from ultracluster.monitoring.dashboards._all import CLOUDWATCH_DASHBOARDS, DASHBOARDS, dashboards, lustre_dashboards
from ultracluster.monitoring.dashboards._build import build
from ultracluster.monitoring.dashboards._common import CLUSTER, MOST, of, together
from ultracluster.monitoring.dashboards._spec import (
    Dashboard,
    FsxQuery,
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
    "Panel",
    "Query",
    "Variable",
    "build",
    "dashboards",
    "lustre_dashboards",
    "of",
    "series",
    "stat",
    "table",
    "timeline",
    "together",
]
