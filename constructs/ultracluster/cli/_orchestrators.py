"""Contract of an orchestrator for the commands. A further one is a module such as `_slurm`, and its row below."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ultracluster.cli._writing import RenderedFile
    from ultracluster.clusterfile import ClusterFile, NodeGroup
    from ultracluster.monitoring import KubernetesSource, SlurmSource
    from ultracluster.workloads import JobFile


class Orchestrator(Protocol):
    """Texts and files that differ by orchestrator.

    Attributes:
        title: Name with the service that runs it.
        other_addresses: What takes addresses of the training subnet beside nodes and storage.
    """

    title: str
    other_addresses: str

    def control_plane(self, cluster: "ClusterFile") -> str:
        """Describe the control plane and the nodes beside the node groups."""

    def group_details(self, group: "NodeGroup", cluster: "ClusterFile") -> list[str]:
        """Describe how a node group grows, and how it ends."""

    def new_control_plane(self, before: "ClusterFile", after: "ClusterFile") -> str:
        """Reason why an edit of the file creates another control plane, or an empty string."""

    def metrics_source(self, cluster: "ClusterFile") -> "SlurmSource | KubernetesSource | None":
        """Source of metrics that is scraped once for the cluster, or None."""

    def jobs(self, cluster: "ClusterFile") -> "Sequence[JobFile]":
        """Job files."""

    def objects(self, cluster: "ClusterFile", deployed: Mapping[str, str]) -> "list[RenderedFile]":
        """Files for `kubectl` and `helm`, with the outputs of the stacks; empty without a Kubernetes API."""


def orchestrator(cluster: "ClusterFile") -> Orchestrator:
    from ultracluster.cli import _kubernetes, _slurm

    modules: Mapping[str, Orchestrator] = {"slurm": _slurm, "kubernetes": _kubernetes}
    return modules[cluster.orchestrator]
