"""A whole cluster as one construct."""

from collections.abc import Mapping

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import IClusterNetwork, Network
from ultracluster.observability import Observability
from ultracluster.orchestration import INodeGroup
from ultracluster.planning import checked_except
from ultracluster.rules import Refusal, error
from ultracluster.stacks._cluster_tags import add_tags, warn_of_tags_above
from ultracluster.stacks._compliance import add_compliance
from ultracluster.stacks._environment import add_environment_rule, check_environment, cluster_errors
from ultracluster.stacks._names_in_use import mark, name_problems
from ultracluster.stacks._orchestrators import create_images, create_orchestrator, create_platform, needs_platform
from ultracluster.stacks._outputs import network_outputs, observability_outputs, storage_outputs, write_outputs
from ultracluster.storage import Storage

_SIZE = error("one-stack-size", "CloudFormation limits the resources and the bytes of a template.")
_ZONE = error("network-zone", "A handed-in network must be in the zone of the cluster.")


class UltraCluster(Construct):
    """Network, storage, orchestrator, node groups and monitoring of a cluster file, in one stack.

    `ClusterStacks` creates the same parts in several stacks, which is better for a long-lived cluster: storage
    then has a stack and a termination protection of its own.

    If the stack has no `env`, CloudFormation refuses to deploy it in another Region or account than those of the file.

    Args:
        cluster: Cluster file, as `clusterfile.load` returns it.
        network: Existing network, or a `ClusterNetwork`, in which the security group of the nodes is created. Default:
            that of the file, which is a new VPC unless it names an existing one.
        storage: Existing file systems and bucket. They are mounted at the paths of the file, or at `/fsx` and `/home`,
            and the security groups of both sides get the rules. Default: the storage of the file.

    Raises:
        Refusal: If region or account of stack and cluster file differ, if another cluster of the app has the name and
            region, if `network` or `storage` does not have what the file requires, or makes a key of the file useless,
            or if the nodes do not reach the storage. All reasons at once.
    """

    @checked_except("cluster")
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network | IClusterNetwork | None = None,
        storage: Storage | None = None,
    ) -> None:
        super().__init__(scope, id)
        if errors := cluster_errors(cluster):
            raise Refusal(self, errors)
        if cluster.compute_stacks[1:]:
            text = (
                f"cluster has {len(cluster.node_groups)} node groups, which are {len(cluster.compute_stacks)} stacks, "
                "and this construct is in one; use ClusterStacks, or make several clusters"
            )
            raise Refusal(self, _SIZE(text))
        stack = cdk.Stack.of(self)
        check_environment(self, cluster, account=stack.account, region=stack.region)
        problems = list(name_problems(self, cluster, stack.account))
        if network is not None and not isinstance(network, Network):
            if network.zone != cluster.zone:
                text = f"network must be in {cluster.zone}, the zone of the cluster file, got {network.zone}"
                raise Refusal(self, _ZONE(text))
            network = Network.from_cluster_network(Construct(self, "Network"), network)
        problems += [] if network is None else network.problems(cluster)
        problems += [] if storage is None else storage.problems(cluster, network)
        if problems:
            raise Refusal(self, problems)
        mark(self, cluster)
        add_environment_rule(self, cluster)
        #: Network of the nodes.
        self.network = Network.from_cluster_file(Construct(self, "Network"), cluster) if network is None else network
        #: File systems and data bucket.
        self.storage = (
            Storage.from_cluster_file(Construct(self, "Storage"), cluster, network=self.network)
            if storage is None
            else storage.connected(cluster, network=self.network, nodes=self)
        )
        #: Control plane and nodes: a `SlurmCluster` or a `KubernetesCluster`.
        self.orchestrator = create_orchestrator(
            self, "ControlPlane", cluster=cluster, network=self.network, storage=self.storage
        )
        #: Images that the deployment builds. None: there are none.
        self.images = (
            create_images(self, "Images", cluster=cluster, network=self.network) if cluster.built_images else None
        )
        monitoring = Construct(self, "Observability")
        #: Monitoring. None: it is off.
        self.observability = Observability.from_cluster_file(
            monitoring, cluster, network=self.network, storage=self.storage
        )
        if self.observability is not None:
            self.orchestrator.add_metrics_access(monitoring, self.observability)
        self.orchestrator.add_node_groups(Construct(self, "Nodes"), images=self.images.images if self.images else {})
        outputs = [
            *network_outputs(self.network),
            *storage_outputs(self.storage),
            *self.orchestrator.outputs,
            *self.orchestrator.node_outputs,
            *(self.images.outputs if self.images else ()),
        ]
        if self.observability is not None:
            outputs += observability_outputs(self.observability)
        #: Admin host that installs what is on Kubernetes. None: nothing is installed by the deployment.
        self.platform = (
            create_platform(
                self,
                "Platform",
                cluster=cluster,
                network=self.network,
                storage=self.storage,
                orchestrator=self.orchestrator,
                outputs=outputs,
                topic=self.observability.topic if self.observability else None,
            )
            if needs_platform(cluster)
            else None
        )
        outputs += self.platform.outputs if self.platform else []
        #: CloudFormation outputs by name, such as `LoginCommand`; the same as those of `ClusterStacks`.
        self.outputs: Mapping[str, cdk.CfnOutput] = write_outputs(Construct(self, "Outputs"), outputs)
        add_tags(self, cluster)
        warn_of_tags_above(self)
        add_compliance([self], cluster)

    @property
    def node_groups(self) -> Mapping[str, INodeGroup]:
        """Node groups by name; `login` is that of Slurm's login nodes, `system` that of Kubernetes' system nodes."""
        return self.orchestrator.node_groups
