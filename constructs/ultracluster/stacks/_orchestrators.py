"""Orchestrators by their name in the cluster file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.eks import KubernetesCluster, KubernetesPlatform
from ultracluster.network import Network
from ultracluster.orchestration import Orchestrator, Output
from ultracluster.slurm import SlurmCluster
from ultracluster.storage import Storage

_ORCHESTRATORS: Mapping[str, type[SlurmCluster | KubernetesCluster]] = MappingProxyType(
    {"slurm": SlurmCluster, "kubernetes": KubernetesCluster}
)


def create_orchestrator(
    scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage
) -> Orchestrator:
    """Create the control plane that a cluster file names."""
    return _ORCHESTRATORS[cluster.orchestrator](scope, id, cluster=cluster, network=network, storage=storage)


def create_platform(
    scope: Construct,
    id: str,
    *,
    cluster: ClusterFile,
    network: Network,
    storage: Storage,
    orchestrator: Orchestrator,
    outputs: Sequence[Output],
    topic: sns.ITopic | None,
) -> KubernetesPlatform:
    """Create the admin host of Kubernetes, and what it installs; see `KubernetesPlatform.needed`."""
    assert isinstance(orchestrator, KubernetesCluster)
    return KubernetesPlatform(
        scope,
        id,
        cluster=cluster,
        network=network,
        storage=storage,
        kubernetes=orchestrator,
        outputs=outputs,
        topic=topic,
    )
