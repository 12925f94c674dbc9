"""A whole cluster as one construct."""

from collections.abc import Mapping

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.observability import Observability
from ultracluster.rules import Refusal
from ultracluster.stacks._environment import check_environment
from ultracluster.stacks._orchestrators import create_orchestrator
from ultracluster.stacks._outputs import network_outputs, observability_outputs, storage_outputs, write_outputs
from ultracluster.storage import Storage


class UltraCluster(Construct):
    """Network, storage, orchestrator, node groups and monitoring of a cluster file, in one stack.

    `ClusterStacks` creates the same parts in several stacks, which is better for a cluster that lives long: storage
    then has a stack and a termination protection of its own.

    Args:
        cluster: Cluster file, as `clusterfile.load` returns it.
        network: Existing network. Default: that of the file, which is a new VPC unless it names an existing one.
        storage: Existing file systems and bucket. Nodes mount them where the file says, or at `/fsx` and `/home`, and
            the security groups of both sides get the rules. Default: the storage of the file.

    Raises:
        ValueError: If region or account of stack and cluster file differ, or if `network` or `storage` does not have
            what the file requires. All reasons at once.
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
        stack = cdk.Stack.of(self)
        check_environment(self, cluster, account=stack.account, region=stack.region)
        problems = [*(network.problems(cluster) if network else []), *(storage.problems(cluster) if storage else [])]
        if problems:
            raise Refusal(self, problems)
        #: Network of the nodes.
        self.network = network or Network.from_cluster_file(Construct(self, "Network"), cluster)
        #: File systems and data bucket.
        self.storage = (
            storage.connected(cluster, network=self.network)
            if storage
            else Storage.from_cluster_file(Construct(self, "Storage"), cluster, network=self.network)
        )
        #: Control plane and nodes: a `SlurmCluster` or a `KubernetesCluster`.
        self.orchestrator = create_orchestrator(
            self, "ControlPlane", cluster=cluster, network=self.network, storage=self.storage
        )
        self.orchestrator.add_node_groups(Construct(self, "Nodes"))
        monitoring = Construct(self, "Observability")
        #: Monitoring. None: it is off.
        self.observability = Observability.from_cluster_file(
            monitoring, cluster, network=self.network, storage=self.storage
        )
        outputs = [
            *network_outputs(self.network),
            *storage_outputs(self.storage),
            *self.orchestrator.outputs,
            *self.orchestrator.node_outputs,
        ]
        if self.observability is not None:
            self.orchestrator.add_metrics_access(monitoring, self.observability)
            outputs += observability_outputs(self.observability)
        #: CloudFormation outputs by name, such as `LoginCommand`; the same as those of `ClusterStacks`.
        self.outputs: Mapping[str, cdk.CfnOutput] = write_outputs(Construct(self, "Outputs"), outputs)
        for key, value in cluster.tags.items():
            cdk.Tags.of(self).add(key, value)

    @property
    def node_groups(self) -> Mapping[str, Construct]:
        """Node groups by name; `login` is that of Slurm's login nodes, `system` that of Kubernetes' system nodes."""
        return self.orchestrator.node_groups
