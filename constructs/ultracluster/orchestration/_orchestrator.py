"""The contract of an orchestrator."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct, Node

from ultracluster.catalogue.ec2 import Architecture
from ultracluster.observability import Observability
from ultracluster.planning.capacity import Image


class Output(NamedTuple):
    """A value that a person or a script needs after a deployment."""

    id: str
    description: str
    value: str


class INodeGroup(IConstruct, ec2.IConnectable, iam.IGrantable, Protocol):
    """A group of nodes: a construct with security groups and the role of its nodes."""


class Orchestrator(Protocol):
    """Control plane and nodes of a cluster, whichever service runs them.

    An orchestrator is a construct that holds the control plane. Its nodes and the access of its metrics collectors go
    into scopes of the caller, which may be in other stacks.
    """

    @property
    def node(self) -> Node:
        """Tree node of the construct."""

    @property
    def node_groups(self) -> Mapping[str, INodeGroup]:
        """Node groups by name, those of login or system nodes included; empty before `add_node_groups`."""

    @property
    def outputs(self) -> Sequence[Output]:
        """Outputs of the control plane."""

    @property
    def node_outputs(self) -> Sequence[Output]:
        """Outputs of the nodes; complete after `add_node_groups`."""

    def add_node_groups(
        self,
        scope: Construct,
        *,
        images: Mapping[Architecture, Image] | None = None,
        others: Mapping[str, Construct] | None = None,
    ) -> None:
        """Create launch templates, node groups and what needs nodes to run on.

        Args:
            scope: Scope of the nodes, in the stack of the control plane or in another one.
            images: Images that the deployment builds, by architecture.
            others: Scopes of node groups in further stacks, by name of the group; see `ClusterFile.compute_stacks`.
        """

    def add_metrics_access(self, scope: Construct, observability: Observability) -> None:
        """Allow the metrics collectors of the cluster to write to its Prometheus workspace.

        Args:
            scope: Scope of roles, policies and parameters.
            observability: Monitoring of the cluster.
        """
