"""Warnings about what Slurm is told."""

from collections.abc import Iterator

from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.hardware.quotas import PCS_NODE_GROUPS_PER_CLUSTER
from ultracluster.planning.slurm_settings import unknown_settings


def slurm_advice(cluster: ClusterFile) -> Iterator[tuple[str, str]]:
    """Id, without prefix, and message of each warning."""
    slurm = cluster.slurm
    unknown = [
        *unknown_settings("cluster", slurm.settings),
        *unknown_settings("slurmdbd", slurm.slurmdbd_settings),
        *unknown_settings("cgroup", slurm.cgroup_settings),
    ]
    for queue in slurm.queues.values():
        unknown += unknown_settings("queue", queue.settings)
    for section in cluster.nodes.values():
        unknown += unknown_settings("node-group", section.slurm.settings)
    if len(cluster.queues) > PCS_NODE_GROUPS_PER_CLUSTER:
        yield (
            "node-group-quota",
            f"the cluster has {len(cluster.queues)} queues, and PCS gives a cluster {PCS_NODE_GROUPS_PER_CLUSTER} by "
            "default; have it raised by a support case before you deploy",
        )
    if cluster.users and cluster.storage.home is None:
        yield (
            "users-without-home",
            "each user has another home on every node, for none is shared, and a job finds there what its node has; "
            "write storage: {home: {}}",
        )
    if unknown:
        yield (
            "unknown-setting",
            f"{', '.join(dict.fromkeys(unknown))}: not among the settings that AWS PCS took on 2026-11-21; if it still "
            "does not, the deployment fails there",
        )
