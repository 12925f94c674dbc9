"""A whole cluster from a cluster file: `UltraCluster` in one stack, `ClusterStacks` in several, `main` as an app."""

from ultracluster.stacks._uncollected import uncollected

with uncollected():
    from ultracluster.stacks._cluster_stacks import ClusterStacks
    from ultracluster.stacks._main import main
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
