"""The stacks of one cluster, wired."""

import aws_cdk as cdk

from ultracluster.clusterfile import ClusterFile
from ultracluster.rules import Refusal
from ultracluster.stacks._cluster_tags import add_tags, warn_of_tags_above
from ultracluster.stacks._compliance import add_compliance
from ultracluster.stacks._environment import check_environment, cluster_errors
from ultracluster.stacks._names_in_use import NAME, mark, name_problems
from ultracluster.stacks._orchestrators import needs_platform
from ultracluster.stacks._outputs import network_outputs, observability_outputs, storage_outputs
from ultracluster.stacks._stack_policies import StackPolicies
from ultracluster.stacks._stacks import (
    ClusterStack,
    ComputeStack,
    FurtherComputeStack,
    ImagesStack,
    NetworkStack,
    ObservabilityStack,
    PlatformStack,
    StorageStack,
)
from ultracluster.storage import Storage


class ClusterStacks:
    """Network, Storage, Cluster, Observability, Images, Compute, Platform: split by lifetime, and who may delete them.

    Node groups for which the template of Compute has no room are in Compute-2, Compute-3 and so on.

    Args:
        stage: App, which is a Stage, or a Stage of a pipeline.
        cluster: Cluster file, as `clusterfile.load` returns it.
        account: AWS account. Default: that of the file, then that of the stage, then that of the credentials.

    Raises:
        Refusal: If account or region of stage and cluster file differ, or another cluster has its name in the Stage, or
            in account and region.
    """

    def __init__(self, stage: cdk.Stage, *, cluster: ClusterFile, account: str | None = None) -> None:
        if errors := cluster_errors(cluster):
            raise Refusal(stage.node.path or "App", errors)
        account = account or cluster.account or stage.account
        check_environment(stage.node.path or "App", cluster, account=stage.account, region=stage.region)
        check_environment(stage.node.path or "App", cluster, account=account, region=None)
        problems = list(name_problems(stage, cluster, account))
        if not problems and stage.node.try_find_child(f"{cluster.name}-Network") is not None:
            problems.append(
                NAME(f"cluster must have a name of its own in its Stage, which has the stacks of {cluster.name!r}")
            )
        if problems:
            raise Refusal(stage.node.path or "App", problems)
        name = cluster.name
        env = cdk.Environment(account=account, region=cluster.region)
        #: Network stack.
        self.network = NetworkStack(stage, f"{name}-Network", cluster=cluster, env=env)
        mark(self.network, cluster)
        # In the stack that is deployed first, and deleted last.
        policies = StackPolicies(self.network, "StackPolicies", prefix=self.network.stack_name.removesuffix("Network"))
        network = self.network.network
        #: Storage stack. None: the file has no storage, and CloudFormation has no empty stacks.
        self.storage = (
            StorageStack(stage, f"{name}-Storage", cluster=cluster, network=network, env=env)
            if Storage.needed(cluster)
            else None
        )
        storage = self.storage.storage if self.storage else Storage()
        #: Stack of the control plane.
        self.cluster = ClusterStack(
            stage, f"{name}-Cluster", cluster=cluster, network=network, storage=storage, env=env
        )
        orchestrator = self.cluster.orchestrator
        #: Observability stack. None: monitoring is off.
        self.observability = (
            ObservabilityStack(
                stage,
                f"{name}-Observability",
                cluster=cluster,
                network=network,
                storage=storage,
                orchestrator=orchestrator,
                env=env,
            )
            if cluster.observability.on
            else None
        )
        monitoring = self.observability.observability if self.observability else None
        if self.observability and monitoring:
            policies.notify(self.observability, monitoring.topic)
        #: Stack of the images that the deployment builds. None: there are none.
        self.images = (
            ImagesStack(stage, f"{name}-Images", cluster=cluster, network=network, env=env)
            if cluster.built_images
            else None
        )
        #: Stacks of node groups for which the template of `compute` has no room, by number.
        self.further_compute = {
            it.number: FurtherComputeStack(stage, f"{name}-Compute-{it.number}", cluster=cluster, env=env)
            for it in cluster.compute_stacks[1:]
        }
        #: Stack of the nodes.
        self.compute = ComputeStack(
            stage,
            f"{name}-Compute",
            cluster=cluster,
            orchestrator=orchestrator,
            images=self.images.images.images if self.images else {},
            others={group: self.further_compute[it.number] for it in cluster.compute_stacks[1:] for group in it.groups},
            env=env,
        )
        #: Stack of the admin host and of what it installs on Kubernetes. None: nothing is installed by the deployment.
        self.platform = (
            PlatformStack(
                stage,
                f"{name}-Platform",
                cluster=cluster,
                network=network,
                storage=storage,
                orchestrator=orchestrator,
                outputs=[
                    *network_outputs(network),
                    *storage_outputs(storage),
                    *orchestrator.outputs,
                    *orchestrator.node_outputs,
                    *(observability_outputs(monitoring) if monitoring else ()),
                ],
                topic=monitoring.topic if monitoring else None,
                env=env,
            )
            if needs_platform(cluster)
            else None
        )
        # The stage may hold another cluster.
        for stack in self.stacks:
            add_tags(stack, cluster)
        warn_of_tags_above(self.compute)
        add_compliance([*self.stacks], cluster)

    @property
    def stacks(self) -> list[cdk.Stack]:
        """All stacks, in the order of their deployment."""
        before = (self.network, self.storage, self.cluster, self.observability, self.images, self.compute)
        every = (*before, *self.further_compute.values(), self.platform)
        return [stack for stack in every if stack is not None]
