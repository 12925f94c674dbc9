"""Kubernetes: the control plane, and its nodes."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stacks.references import hold
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import EksKarpenter


class KubernetesClusterStack(cdk.Stack):
    """The control plane, the role of its nodes, and the add-ons that must be there before a node."""

    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, network: patterns.Network, **kwargs: Any
    ) -> None:
        super().__init__(scope, id, description=f"Control plane of the cluster {cluster.name}", **kwargs)
        self.kubernetes = patterns.kubernetes(self, cluster, network)
        # Node groups belong to this control plane: it must not go before them.
        hold(self)
        cdk.CfnOutput(self, "ClusterName", value=self.kubernetes.cluster.cluster_name, description="EKS cluster")
        if self.kubernetes.own_nodes is not None:
            # What Karpenter's node classes name, and only a deployment knows.
            plane, role = self.kubernetes.cluster, self.kubernetes.own_nodes.role
            for output, description, value in (
                ("OwnNodesRoleName", "Role of nodes that EKS does not launch", role.role_name),
                ("ClusterSecurityGroupId", "Group of control plane and nodes", plane.cluster_security_group_id),
            ):
                cdk.CfnOutput(self, output, description=description, value=value)


class KubernetesComputeStack(cdk.Stack):
    """Launch templates, node groups, and the add-ons that run on them."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: patterns.Network,
        storage: patterns.Storage,
        kubernetes: patterns.Kubernetes,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Nodes of the cluster {cluster.name}", **kwargs)
        self.node_groups = patterns.kubernetes_nodes(self, cluster, network, storage, kubernetes)
        for output, (description, command) in patterns.commands(cluster, kubernetes.name).items():
            cdk.CfnOutput(self, output, description=description, value=command)
        karpenter = self.node.try_find_child("Karpenter")
        if isinstance(karpenter, EksKarpenter):
            cdk.CfnOutput(
                self, "KarpenterQueue", value=karpenter.queue.queue_name, description="Where it hears of interruptions"
            )
