"""The data perimeter of a cluster file."""

from ultracluster.clusterfile._cluster_file import ClusterFile


def perimeter_members(cluster: ClusterFile) -> tuple[str, ...] | None:
    """Return the organization or the accounts of the perimeter, empty for that of the cluster, or None without one."""
    if cluster.perimeter is not None:
        return cluster.perimeter.members
    # The endpoints of an existing network have policies of their owner.
    return None if cluster.network.internet or cluster.network.existing else ()
