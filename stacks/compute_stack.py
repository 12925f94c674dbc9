"""The nodes: change weekly."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.orchestration import PcsCluster
from ultracluster.planning import CapacityBlock, UltraServerBlock, segment


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
        for id, description, lines in _facts(cluster):
            if lines:
                cdk.CfnOutput(self, id, description=description, value="; ".join(lines))
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
        if cluster.slurm.login.ssh is not None:
            cdk.CfnOutput(
                self,
                "LoginAddresses",
                description="Private addresses of the login nodes, for ssh as ubuntu or as a user of the cluster file",
                value=(
                    f"aws ec2 describe-instances --region {self.region} --filters "
                    "Name=instance-state-name,Values=running "
                    f"Name=tag:aws:pcs:compute-node-group-id,Values={login} "
                    "--query 'Reservations[].Instances[].PrivateIpAddress' --output text"
                ),
            )


def _facts(cluster: ClusterFile) -> list[tuple[str, str, list[str]]]:
    """What a person or a job script has to know of the nodes: id, description and lines of an output."""
    ultra = [group for group in cluster.node_groups if group.ultraserver]
    return [
        (
            "NvlinkDomains",
            "UltraServers: one NVLink domain each, and one block of Slurm's topology",
            [
                f"{group.name}: {group.count} nodes, {group.nvlink_domain} GPUs, "
                f"sbatch --exclusive --segment={segment(group.count)}"
                for group in ultra
            ],
        ),
        (
            "CapacityEnds",
            "Capacity Blocks that end, and when their nodes take no more jobs",
            list(filter(None, map(_end(cluster), cluster.node_groups))),
        ),
    ]


def _end(cluster: ClusterFile) -> Callable[[NodeGroup], str | None]:
    def line(group: NodeGroup) -> str | None:
        block = group.capacity
        if not isinstance(block, CapacityBlock | UltraServerBlock) or block.terminates_at is None:
            return None
        drained = block.terminates_at - cluster.notifications.drain.timedelta
        how = "to be terminated by you before" if isinstance(block, UltraServerBlock) else "terminated from"
        return (
            f"{group.name} ({block.reservation_id}): drained from {drained:%Y-%m-%d %H:%M}, "
            f"{how} {block.terminates_at:%Y-%m-%d %H:%M} UTC"
        )

    return line
