"""The stacks of a cluster. Each has a lifetime of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_sns as sns
from constructs import Construct, IConstruct

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.observability import Observability
from ultracluster.orchestration import Orchestrator, Output
from ultracluster.planning import checked
from ultracluster.planning.capacity import Image
from ultracluster.stacks._orchestrators import create_images, create_orchestrator, create_platform
from ultracluster.stacks._outputs import network_outputs, observability_outputs, storage_outputs, write_outputs
from ultracluster.storage import Storage


class NetworkStack(cdk.Stack):
    """VPC, training subnet and the security group of the nodes; rarely changes."""

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, **kwargs: Any) -> None:
        super().__init__(
            scope, id, **_arguments(kwargs, f"Network of the cluster {cluster.name}", termination_protection=True)
        )
        self.network = Network.from_cluster_file(self, cluster)
        # Nodes that lose their subnet or their security group lose each other.
        _hold(self)
        write_outputs(self, network_outputs(self.network))


class StorageStack(cdk.Stack):
    """Key, file systems and data bucket, under termination protection."""

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, **kwargs: Any) -> None:
        super().__init__(
            scope, id, **_arguments(kwargs, f"Storage of the cluster {cluster.name}", termination_protection=True)
        )
        self.storage = Storage.from_cluster_file(self, cluster, network=network)
        # Nodes that lose their file system lose their job.
        for file_system in filter(None, (self.storage.lustre, self.storage.home)):
            _hold(file_system)
        write_outputs(self, storage_outputs(self.storage))
        if not any(cdk.CfnResource.is_cfn_resource(child) for child in self.node.find_all()):
            # CloudFormation has no empty stacks, and an existing bucket creates no resource.
            cdk.CfnWaitConditionHandle(self, "NoResources")


class ClusterStack(cdk.Stack):
    """Control plane, roles of its nodes, and what must exist before a node."""

    @checked
    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, storage: Storage, **kwargs: Any
    ) -> None:
        super().__init__(
            scope, id, **_arguments(kwargs, f"Control plane of the cluster {cluster.name}", termination_protection=True)
        )
        # `Default` adds nothing to logical ids.
        self.orchestrator = create_orchestrator(self, "Default", cluster=cluster, network=network, storage=storage)
        # Node groups belong to this control plane, which must outlive them.
        _hold(self)
        write_outputs(self, self.orchestrator.outputs)


class ObservabilityStack(cdk.Stack):
    """Prometheus, Grafana, alerts and alarms. Deleting it deletes metrics, and changes neither jobs nor their data."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network,
        storage: Storage,
        orchestrator: Orchestrator,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, **_arguments(kwargs, f"Observability of the cluster {cluster.name}"))
        self.observability = Observability.from_cluster_file(self, cluster, network=network, storage=storage)
        if self.observability is not None:
            orchestrator.add_metrics_access(self, self.observability)
            write_outputs(self, observability_outputs(self.observability))


class ImagesStack(cdk.Stack):
    """Images of the nodes, which its deployment builds; deleting it keeps the images, and ends their clean-up."""

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, network: Network, **kwargs: Any) -> None:
        super().__init__(scope, id, **_arguments(kwargs, f"Images of the cluster {cluster.name}"))
        self.images = create_images(self, "Nodes", cluster=cluster, network=network)
        # Another content is another resource, and an export that nodes use could not be removed. Templates for other
        # tools have exports only.
        if self.node.try_get_context("@aws-cdk/core:defaultCrossStackReferences") != "strong":
            _refer(self, cdk.ReferenceStrength.WEAK)
        write_outputs(self, self.images.outputs)


class FurtherComputeStack(cdk.Stack):
    """Node groups for which the template of the first stack has no room; see `ClusterFile.compute_stacks`."""

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, **kwargs: Any) -> None:
        super().__init__(
            scope,
            id,
            **_arguments(kwargs, f"More nodes of the cluster {cluster.name}", suppress_template_indentation=True),
        )


class ComputeStack(cdk.Stack):
    """Launch templates, node groups, and what runs on them; changes weekly."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        orchestrator: Orchestrator,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
        **kwargs: Any,
    ) -> None:
        # CloudFormation counts the bytes of a template, of which a quarter would be blanks.
        if cluster.compute_stacks[0].is_large:
            kwargs["suppress_template_indentation"] = True
        super().__init__(scope, id, **_arguments(kwargs, f"Nodes of the cluster {cluster.name}"))
        orchestrator.add_node_groups(self, images=images or {}, others=others)
        write_outputs(self, orchestrator.node_outputs)


class PlatformStack(cdk.Stack):
    """Admin host of a Kubernetes cluster, and what it applies; deleting it keeps what is on the cluster."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network,
        storage: Storage,
        orchestrator: Orchestrator,
        outputs: Sequence[Output],
        topic: sns.ITopic | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, **_arguments(kwargs, f"Platform of the cluster {cluster.name}"))
        self.platform = create_platform(
            self,
            "Default",
            cluster=cluster,
            network=network,
            storage=storage,
            orchestrator=orchestrator,
            outputs=outputs,
            topic=topic,
        )
        write_outputs(self, self.platform.outputs)


def _hold(scope: IConstruct) -> None:
    """Make references of other stacks to a scope exports, which CloudFormation keeps while they are used."""
    _refer(scope, cdk.ReferenceStrength.STRONG)


def _refer(scope: IConstruct, strength: cdk.ReferenceStrength) -> None:
    for construct in scope.node.find_all():
        if isinstance(construct, cdk.CfnResource):
            construct.apply_cross_stack_reference_strength(strength)


def _arguments(given: dict[str, Any], description: str, **defaults: bool) -> dict[str, Any]:
    """Return the arguments of a stack: those that are given, before the defaults."""
    return {"description": description, **defaults, **given}
