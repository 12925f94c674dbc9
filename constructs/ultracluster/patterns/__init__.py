"""Everything wired together, from a cluster file.

A part is a function, so that one stack may hold them all (`UltraCluster`) or each a stack of its own.
"""

from ultracluster.patterns.eks_observability_part import kubernetes_observability
from ultracluster.patterns.eks_part import Kubernetes, commands, kubernetes, kubernetes_nodes
from ultracluster.patterns.network_part import Network, network
from ultracluster.patterns.observability_part import Observability, collectors, observability
from ultracluster.patterns.slurm_part import control_plane, node_groups
from ultracluster.patterns.storage_part import Storage, storage
from ultracluster.patterns.ultra_cluster import UltraCluster

__all__ = [
    "Kubernetes",
    "Network",
    "Observability",
    "Storage",
    "UltraCluster",
    "collectors",
    "commands",
    "control_plane",
    "kubernetes",
    "kubernetes_nodes",
    "kubernetes_observability",
    "network",
    "node_groups",
    "observability",
    "storage",
]
