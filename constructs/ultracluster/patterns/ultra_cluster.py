"""A whole cluster as one construct."""

from collections.abc import Mapping

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import EksNodeGroup, EksSelfManagedNodeGroup, PcsCluster, PcsComputeNodeGroup
from ultracluster.patterns.eks_observability_part import kubernetes_observability
from ultracluster.patterns.eks_part import Kubernetes, kubernetes, kubernetes_nodes
from ultracluster.patterns.network_part import Network
from ultracluster.patterns.network_part import network as make_network
from ultracluster.patterns.observability_part import Observability
from ultracluster.patterns.observability_part import observability as make_observability
from ultracluster.patterns.slurm_part import control_plane, node_groups
from ultracluster.patterns.storage_part import Storage
from ultracluster.patterns.storage_part import storage as make_storage


class UltraCluster(Construct):
    """Network, storage, Slurm or Kubernetes, node groups and monitoring of a cluster file, in one stack of yours.

    The stacks of this repository's app hold the same parts one by one, which is better for a cluster that lives long:
    storage then has a stack, and a termination protection, of its own.

    Args:
        cluster: What `clusterfile.load` gives.
        network: Where the nodes live. Default: what the file says; without `network` in it, a VPC is made.
        storage: Where the data lives. Default: what the file says.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network | None = None,
        storage: Storage | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.network = network or make_network(self, cluster)
        self.storage = storage or make_storage(self, cluster, self.network)
        #: The Slurm controller. None: the file's orchestrator is Kubernetes.
        self.slurm: PcsCluster | None = None
        #: The Kubernetes control plane. None: the file's orchestrator is Slurm.
        self.kubernetes: Kubernetes | None = None
        #: Node groups by name; `login` is the login nodes', `system` those of what Kubernetes itself needs.
        self.node_groups: Mapping[str, PcsComputeNodeGroup | EksNodeGroup | EksSelfManagedNodeGroup]
        #: None: the file asks for none.
        self.observability: Observability | None = None
        if cluster.orchestrator == "kubernetes":
            self.kubernetes = kubernetes(self, cluster, self.network)
            self.node_groups = kubernetes_nodes(self, cluster, self.network, self.storage, self.kubernetes)
            self.observability = kubernetes_observability(self, cluster, self.network, self.storage, self.kubernetes)
        else:
            self.slurm = control_plane(self, cluster, self.network, self.storage)
            self.node_groups = node_groups(self, cluster, self.network, self.storage, self.slurm)
            role = self.slurm.node_role
            self.observability = make_observability(self, cluster, self.network, self.storage, nodes=[role])
        for key, value in cluster.tags.items():
            cdk.Tags.of(self).add(key, value)
