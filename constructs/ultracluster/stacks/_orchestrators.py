"""Orchestrators by their name in the cluster file.

Their packages are imported when a file names them: modules of the CDK take most of the time of a start.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from aws_cdk import aws_sns as sns
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.orchestration import Orchestrator, Output
from ultracluster.storage import Storage

if TYPE_CHECKING:
    from ultracluster.eks import KubernetesCluster, KubernetesPlatform
    from ultracluster.hyperpod import HyperPodKubernetesCluster, HyperPodSlurmCluster
    from ultracluster.slurm import NodeImages, SlurmCluster


def _slurm() -> "type[SlurmCluster]":
    from ultracluster.slurm import SlurmCluster

    return SlurmCluster


def _kubernetes() -> "type[KubernetesCluster]":
    from ultracluster.eks import KubernetesCluster

    return KubernetesCluster


def _hyperpod_slurm() -> "type[HyperPodSlurmCluster]":
    from ultracluster.hyperpod import HyperPodSlurmCluster

    return HyperPodSlurmCluster


def _hyperpod_kubernetes() -> "type[HyperPodKubernetesCluster]":
    from ultracluster.hyperpod import HyperPodKubernetesCluster

    return HyperPodKubernetesCluster


_ORCHESTRATORS: Mapping[str, "Callable[[], type[SlurmCluster | KubernetesCluster | HyperPodSlurmCluster]]"] = (
    MappingProxyType(
        {
            "slurm": _slurm,
            "kubernetes": _kubernetes,
            "hyperpod-slurm": _hyperpod_slurm,
            "hyperpod-kubernetes": _hyperpod_kubernetes,
        }
    )
)


def create_orchestrator(
    scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage
) -> Orchestrator:
    """Create the control plane that a cluster file names."""
    return _ORCHESTRATORS[cluster.orchestrator]()(scope, id, cluster=cluster, network=network, storage=storage)


def create_images(scope: Construct, id: str, *, cluster: ClusterFile, network: Network) -> "NodeImages":
    """Create the pipelines of the images that the deployment builds."""
    from ultracluster.slurm import NodeImages

    return NodeImages(scope, id, cluster=cluster, network=network)


def needs_platform(cluster: ClusterFile) -> bool:
    """Return True if the deployment creates a platform; see `KubernetesPlatform.needed`."""
    if not cluster.traits.has_platform:
        return False
    from ultracluster.eks import KubernetesPlatform

    return KubernetesPlatform.needed(cluster)


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
) -> "KubernetesPlatform":
    """Create the admin host of Kubernetes, and what it installs; see `needs_platform`."""
    from ultracluster.eks import KubernetesCluster, KubernetesPlatform

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
