"""Grafana and CloudWatch dashboards."""

from ultracluster.monitoring.dashboards._files import dashboards, lustre_dashboards

__all__ = [
    "dashboards",
    "lustre_dashboards",
]
