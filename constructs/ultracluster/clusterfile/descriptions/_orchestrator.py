"""Texts that differ by orchestrator. A further one is a module such as `_slurm`, and its row below."""

from collections.abc import Mapping
from typing import Protocol

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.descriptions import _hyperpod, _hyperpod_kubernetes, _kubernetes, _slurm


class OrchestratorTexts(Protocol):
    """Texts that differ by orchestrator.

    Attributes:
        title: Name with the service that runs it.
        other_addresses: What takes addresses of the training subnet beside nodes and storage.
    """

    title: str
    other_addresses: str

    def control_plane(self, cluster: ClusterFile) -> str:
        """Describe the control plane and the nodes beside the node groups."""

    def group_details(self, group: NodeGroup, cluster: ClusterFile) -> list[str]:
        """Describe how a node group grows, and how it ends."""

    def quotas(self, cluster: ClusterFile) -> str:
        """Describe the quotas that the nodes use; empty if there are none."""

    def new_control_plane(self, before: ClusterFile, after: ClusterFile) -> str:
        """Reason why an edit of the file creates another control plane, or an empty string."""


_TEXTS: Mapping[str, OrchestratorTexts] = {
    "slurm": _slurm,
    "kubernetes": _kubernetes,
    "hyperpod-slurm": _hyperpod,
    "hyperpod-kubernetes": _hyperpod_kubernetes,
}


def orchestrator_texts(cluster: ClusterFile) -> OrchestratorTexts:
    """Return the texts for the orchestrator of a cluster file."""
    return _TEXTS[cluster.orchestrator]
