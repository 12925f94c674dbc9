"""The stacks of one cluster, wired."""

import aws_cdk as cdk

from stacks.cluster_stack import ClusterStack
from stacks.compute_stack import ComputeStack
from stacks.kubernetes_stacks import KubernetesClusterStack, KubernetesComputeStack
from stacks.network_stack import NetworkStack
from stacks.observability_stack import ObservabilityStack
from stacks.storage_stack import StorageStack
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import PcsCluster


class ClusterStacks:
    """Network, Storage, Cluster, Observability and Compute: split by lifetime, and by who may delete them.

    Args:
        stage: Where the stacks stand: the App, which is a Stage, or a Stage of a pipeline.
        cluster: What `clusterfile.load` gives.
        account: AWS account. None: the one of whoever deploys.
    """

    def __init__(self, stage: cdk.Stage, *, cluster: ClusterFile, account: str | None = None) -> None:
        name = cluster.name
        env = cdk.Environment(account=account, region=cluster.region)
        self.network = NetworkStack(stage, f"{name}-Network", cluster=cluster, env=env)
        network = self.network.parts
        # CloudFormation has no empty stacks.
        wish = cluster.storage
        wants_storage = wish.lustre is not None or wish.home is not None or wish.data_bucket
        self.storage = (
            StorageStack(stage, f"{name}-Storage", cluster=cluster, network=network, env=env) if wants_storage else None
        )
        storage = self.storage.parts if self.storage else patterns.Storage()
        self.cluster: ClusterStack | KubernetesClusterStack
        self.compute: ComputeStack | KubernetesComputeStack
        self.observability: ObservabilityStack | None = None
        plane: PcsCluster | patterns.Kubernetes
        if cluster.orchestrator == "kubernetes":
            self.cluster = KubernetesClusterStack(stage, f"{name}-Cluster", cluster=cluster, network=network, env=env)
            plane = self.cluster.kubernetes
        else:
            self.cluster = ClusterStack(
                stage, f"{name}-Cluster", cluster=cluster, network=network, storage=storage, env=env
            )
            plane = self.cluster.pcs
        if cluster.observability.on:
            self.observability = ObservabilityStack(
                stage,
                f"{name}-Observability",
                cluster=cluster,
                network=network,
                storage=storage,
                plane=plane,
                env=env,
            )
        if isinstance(plane, patterns.Kubernetes):
            self.compute = KubernetesComputeStack(
                stage,
                f"{name}-Compute",
                cluster=cluster,
                network=network,
                storage=storage,
                kubernetes=plane,
                env=env,
            )
        else:
            self.compute = ComputeStack(
                stage, f"{name}-Compute", cluster=cluster, network=network, storage=storage, pcs=plane, env=env
            )
        # The stacks alone: the stage may hold another cluster.
        for stack in filter(None, (self.network, self.storage, self.cluster, self.observability, self.compute)):
            for key, value in cluster.tags.items():
                cdk.Tags.of(stack).add(key, value)
