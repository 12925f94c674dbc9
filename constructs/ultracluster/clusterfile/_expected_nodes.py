"""Nodes of a cluster file that always run."""

from collections.abc import Sequence

from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._orchestrators import OrchestratorTraits
from ultracluster.planning.capacity import InterruptibleReservation, waits_for_command


def expected_nodes(groups: Sequence[NodeGroup], traits: OrchestratorTraits, service_count: int) -> dict[str, int]:
    """Return the number of nodes that always run while there is capacity, by node group, `login` or `system`."""
    always = {group.name: _always(group, traits) for group in groups}
    always[traits.service_nodes] = service_count
    always["controller"] = traits.control_nodes
    return {name: count for name, count in always.items() if count}


def _always(group: NodeGroup, traits: OrchestratorTraits) -> int:
    if traits.powers_nodes_off:
        return group.minimum
    # EC2 may reclaim an interruptible reservation, and a command may start nodes at any time.
    if group.elastic or isinstance(group.capacity, InterruptibleReservation) or waits_for_command(group.capacity):
        return 0
    return group.count
