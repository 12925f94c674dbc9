"""Metrics, collectors, alerts and dashboards as data. Pure Python."""

from importlib import import_module
from types import ModuleType

from ultracluster.monitoring._cluster_volume import KubernetesSource, SlurmSource
from ultracluster.monitoring._description import describe
from ultracluster.monitoring._from_cluster_file import (
    alert_routes,
    cluster_dashboards,
    cluster_rules,
    collector_objects,
    file_problems,
    profile_of,
)
from ultracluster.monitoring._volume import volume

__all__ = [
    "KubernetesSource",
    "SlurmSource",
    "alert_routes",
    "cluster_dashboards",
    "cluster_rules",
    "collector_objects",
    "describe",
    "file_problems",
    "profile_of",
    "volume",
]
_PACKAGES = ("alerts", "collectors", "dashboards", "names")


def __getattr__(name: str) -> ModuleType:
    """Import a package of this one when it is first used: `import ultracluster.monitoring` stays fast."""
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
