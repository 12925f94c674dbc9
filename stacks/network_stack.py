"""The network: rarely changes."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stacks.references import hold
from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile


class NetworkStack(cdk.Stack):
    """VPC, training subnet and the security group of the nodes."""

    def __init__(self, scope: Construct, id: str, *, cluster: ClusterFile, **kwargs: Any) -> None:
        super().__init__(scope, id, description=f"Network of the cluster {cluster.name}", **kwargs)
        self.parts = patterns.network(self, cluster)
        # Nodes that lose their subnet or their group lose each other: other stacks hold on to these.
        hold(self)
        cdk.CfnOutput(self, "VpcId", value=self.parts.vpc.vpc_id, description="VPC of the cluster")
        cdk.CfnOutput(
            self,
            "TrainingSubnetId",
            value=self.parts.training_subnet.subnet_id,
            description="Subnet of the nodes and the file system",
        )
        if cluster.orchestrator == "kubernetes":
            nodes = self.parts.nodes.security_group_id
            cdk.CfnOutput(self, "NodesSecurityGroupId", value=nodes, description="Group of the nodes, for EFA")
