"""The nodes: change weekly."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import PcsCluster


class ComputeStack(cdk.Stack):
    """Launch templates, node groups, queues and login nodes."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: patterns.Network,
        storage: patterns.Storage,
        pcs: PcsCluster,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Nodes of the cluster {cluster.name}", **kwargs)
        self.node_groups = patterns.node_groups(self, cluster, network, storage, pcs)
        login = self.node_groups["login"].node_group_id
        cdk.CfnOutput(
            self,
            "LoginCommand",
            description="How to log in; then: sudo -iu ubuntu",
            value=(
                f"aws ssm start-session --region {self.region} --target $(aws ec2 describe-instances "
                f"--region {self.region} --filters Name=instance-state-name,Values=running "
                f"Name=tag:aws:pcs:compute-node-group-id,Values={login} "
                "--query 'Reservations[0].Instances[0].InstanceId' --output text)"
            ),
        )
