"""A whole cluster from a cluster file: `UltraCluster` in one stack, `ClusterStacks` in several, `main` as an app."""

from ultracluster.stacks._cluster_stack import ClusterStack
from ultracluster.stacks._cluster_stacks import ClusterStacks
from ultracluster.stacks._compute_stack import ComputeStack
from ultracluster.stacks._main import main
from ultracluster.stacks._network_stack import NetworkStack
from ultracluster.stacks._observability_stack import ObservabilityStack
from ultracluster.stacks._storage_stack import StorageStack
from ultracluster.stacks._ultra_cluster import UltraCluster

__all__ = [
    "ClusterStack",
    "ClusterStacks",
    "ComputeStack",
    "NetworkStack",
    "ObservabilityStack",
    "StorageStack",
    "UltraCluster",
    "main",
]
