"""Metrics, collectors, alerts and dashboards as data. Pure Python.

`observability` has the constructs that run them; `cloudwatch` has the metrics and alarms of AWS's own resources.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ultracluster.monitoring._cluster_volume import KubernetesSource, SlurmSource
from ultracluster.monitoring._description import describe
from ultracluster.monitoring._volume import volume

if TYPE_CHECKING:
    from ultracluster.monitoring._from_cluster_file import (
        alert_routes,
        check_routes,
        check_rule_files,
        check_tuning,
        cluster_dashboards,
        cluster_rules,
        collector_objects,
        profile_of,
    )

__all__ = [
    "KubernetesSource",
    "SlurmSource",
    "alert_routes",
    "check_routes",
    "check_rule_files",
    "check_tuning",
    "cluster_dashboards",
    "cluster_rules",
    "collector_objects",
    "describe",
    "profile_of",
    "volume",
]
_PACKAGES = ("alerts", "collectors", "dashboards", "names")

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.

    def __getattr__(name: str) -> Any:
        """Import a package, or what reads a cluster file, when it is first used: `describe` needs neither."""
        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        if name in __all__:
            return globals().setdefault(name, getattr(import_module(f"{__name__}._from_cluster_file"), name))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
