"""Texts on clusters with Slurm: see `OrchestratorTexts`."""

from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.descriptions._capacity import end_of, quotas_of_instances
from ultracluster.planning.capacity import segment

title = "Slurm on AWS PCS"
other_addresses = "login"


def control_plane(cluster: ClusterFile) -> str:
    login, size = cluster.slurm.login, cluster.controller_size
    managed = f"{cluster.instances:,} instances"
    # `accept` takes a size that the catalogue does not have.
    if size in pcs.SIZES:
        managed = f"{cluster.instances:,} of {pcs.SIZES[size]:,} instances and at most {pcs.JOBS[size]:,} jobs"
    controller = f"a {size} controller (its size cannot change later) with {managed}"
    return f"login: {login.count} {login.type}; Slurm {cluster.slurm.version}, {controller}"


def group_details(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    details = []
    if group.ultraserver:
        details.append(f"larger jobs in segments: --segment={segment(group.count)}")
    if group.minimum < group.count:
        details.append(f"{group.minimum} to {group.count} nodes, as jobs come")
    if group.features:
        details.append(f"features {','.join(group.features)}")
    if end := end_of(group):
        drained = end.at - cluster.notifications.drain.timedelta
        details.append(f"drained from {drained:%Y-%m-%d %H:%M}, {end.words}")
    return details


def quotas(cluster: ClusterFile) -> str:
    return quotas_of_instances(cluster)


def new_control_plane(before: ClusterFile, after: ClusterFile) -> str:
    if before.controller_size == after.controller_size:
        return ""
    return (
        f"one more node makes the controller {after.controller_size}, and that is a new cluster; write slurm: "
        f"{{size: {after.controller_size}}} before the first deployment"
    )
