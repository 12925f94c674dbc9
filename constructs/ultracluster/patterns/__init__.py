"""Everything wired together, from a cluster file."""

from ultracluster.patterns.parts import Network, Storage, control_plane, network, node_groups, storage
from ultracluster.patterns.ultra_cluster import UltraCluster

__all__ = ["Network", "Storage", "UltraCluster", "control_plane", "network", "node_groups", "storage"]
