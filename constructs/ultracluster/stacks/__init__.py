"""A whole cluster from a cluster file: `UltraCluster` in one stack, `ClusterStacks` in several, `main` as an app."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ultracluster.stacks._main import main
from ultracluster.startup import uncollected

if TYPE_CHECKING:
    from ultracluster.stacks._cluster_stacks import ClusterStacks
    from ultracluster.stacks._stacks import (
        ClusterStack,
        ComputeStack,
        ImagesStack,
        NetworkStack,
        ObservabilityStack,
        PlatformStack,
        StorageStack,
    )
    from ultracluster.stacks._ultra_cluster import UltraCluster

__all__ = [
    "ClusterStack",
    "ClusterStacks",
    "ComputeStack",
    "ImagesStack",
    "NetworkStack",
    "ObservabilityStack",
    "PlatformStack",
    "StorageStack",
    "UltraCluster",
    "main",
]
_MODULES = {"ClusterStacks": "_cluster_stacks", "UltraCluster": "_ultra_cluster"}

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.

    def __getattr__(name: str) -> Any:
        """Import a class when it is first used: `main` refuses a bad cluster file before it imports the CDK."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with uncollected():
            value = getattr(import_module(f"{__name__}.{_MODULES.get(name, '_stacks')}"), name)
        return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
