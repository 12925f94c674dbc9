"""Orchestrators by their name in the cluster file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.eks import KubernetesCluster
from ultracluster.network import Network
from ultracluster.orchestration import Orchestrator
from ultracluster.slurm import SlurmCluster
from ultracluster.storage import Storage


class _Factory(Protocol):
    def __call__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage
    ) -> Orchestrator: ...


_ORCHESTRATORS: Mapping[str, _Factory] = MappingProxyType({"slurm": SlurmCluster, "kubernetes": KubernetesCluster})


def create_orchestrator(
    scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage
) -> Orchestrator:
    """Create the control plane that a cluster file names."""
    return _ORCHESTRATORS[cluster.orchestrator](scope, id, cluster=cluster, network=network, storage=storage)
