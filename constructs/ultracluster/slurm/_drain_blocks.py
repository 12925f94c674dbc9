"""Drains of the node groups of a cluster file before their Capacity Blocks end."""

from collections.abc import Mapping

from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import capacity_notices, child_scope
from ultracluster.planning.capacity import Block
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._metrics import LOGIN
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._pcs_drain import PcsDrain


def drain_blocks(
    scope: Construct,
    scopes: Mapping[str, Construct],
    cluster: ClusterFile,
    controller: IPcsCluster,
    groups: Mapping[str, PcsComputeNodeGroup],
) -> None:
    """Create the drains of the node groups with Capacity Blocks, with a notice before.

    Args:
        scope: Scope of the notices.
        scopes: Scopes of the drains, by name of the node group.
        cluster: Cluster file.
        controller: Slurm cluster.
        groups: Node groups by name, with that of the login nodes.
    """
    notices, section = capacity_notices(scope, cluster), cluster.notifications
    for group in cluster.node_groups:
        if notices is not None and isinstance(group.capacity, Block) and group.capacity.ends is not None:
            PcsDrain(
                child_scope(scopes[group.name], group.name),
                "Drain",
                cluster=controller,
                login=groups[LOGIN],
                node_group=groups[group.name],
                notices=notices,
                drain=section.drain.timedelta,
                notice=section.notice.timedelta,
            )
