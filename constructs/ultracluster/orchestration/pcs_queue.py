"""A Slurm partition."""

from collections.abc import Sequence

from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.hardware import pcs
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.orchestration.pcs_compute_node_group import PcsComputeNodeGroup


class PcsQueue(Construct):
    """A queue of AWS PCS: the partition that jobs name, over one node group or several.

    Args:
        cluster: The cluster.
        name: Name of the partition, 3 to 25 characters.
        node_groups: The groups whose nodes it hands out.

    Raises:
        ValueError: When the name is not what PCS takes, or no node group is given.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        name: str,
        node_groups: Sequence[PcsComputeNodeGroup],
    ) -> None:
        super().__init__(scope, id)
        problems = pcs.check_node_group_name(name)
        if not node_groups:
            problems.append("node_groups must hold at least one group, got none")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.resource = l1.CfnQueue(
            self,
            "Resource",
            cluster_id=cluster.cluster_id,
            name=name,
            compute_node_group_configurations=[
                l1.CfnQueue.ComputeNodeGroupConfigurationProperty(compute_node_group_id=group.node_group_id)
                for group in node_groups
            ],
        )
        self.name = name
