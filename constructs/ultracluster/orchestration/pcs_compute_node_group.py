"""A group of equal Slurm nodes."""

from typing import assert_never

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_pcs as l1
from constructs import Construct

from ultracluster.compute import NodeGroupTemplate
from ultracluster.hardware import pcs
from ultracluster.orchestration.pcs_cluster import PcsCluster
from ultracluster.planning import (
    Capacity,
    CapacityBlock,
    OnDemand,
    OpenReservation,
    ReservationGroup,
    Spot,
    TargetedReservation,
    TrainingPlan,
    UltraServerBlock,
)


class PcsComputeNodeGroup(Construct):
    """A compute node group of AWS PCS.

    Args:
        cluster: The cluster to join.
        name: Name of the group, 3 to 25 characters; its Slurm nodes are called NAME-1, NAME-2, ...
        template: How a node looks. PCS wants the subnet in it.
        subnet: Where the nodes are; one subnet, for EFA does not cross zones.
        image_id: An `ami-...` that is ready for PCS, or a token.
        count: Number of nodes when all are up.
        minimum: Number of nodes that are up always. Default: `count`, for reserved nodes are paid for anyway and a job
            then never waits for a boot.

    Raises:
        ValueError: When the name or the counts are not what PCS takes.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: PcsCluster,
        name: str,
        template: NodeGroupTemplate,
        subnet: ec2.ISubnet,
        image_id: str,
        count: int,
        minimum: int | None = None,
    ) -> None:
        super().__init__(scope, id)
        minimum = count if minimum is None else minimum
        problems = pcs.check_node_group_name(name)
        if not 0 <= minimum <= count or count < 1:
            problems.append(f"minimum must be between 0 and count, and count at least 1, got {minimum} and {count}")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.resource = l1.CfnComputeNodeGroup(
            self,
            "Resource",
            cluster_id=cluster.cluster_id,
            name=name,
            ami_id=image_id,
            iam_instance_profile_arn=cluster.instance_profile_arn,
            subnet_ids=[subnet.subnet_id],
            purchase_option=purchase_option(template.capacity),
            instance_configs=[l1.CfnComputeNodeGroup.InstanceConfigProperty(instance_type=template.instance_type.name)],
            scaling_configuration=l1.CfnComputeNodeGroup.ScalingConfigurationProperty(
                min_instance_count=minimum, max_instance_count=count
            ),
            custom_launch_template=l1.CfnComputeNodeGroup.CustomLaunchTemplateProperty(
                template_id=template.launch_template_id, version=template.latest_version
            ),
        )
        # The nodes can't register before the cluster stands and their role has its policy.
        self.resource.node.add_dependency(cluster)
        self.node_group_id = self.resource.attr_id


def purchase_option(capacity: Capacity) -> str:
    """PCS's word for a way of buying.

    See: https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateComputeNodeGroup.html (read 2026-11-20)
    """
    match capacity:
        case CapacityBlock() | UltraServerBlock():
            return "CAPACITY_BLOCK"
        case Spot():
            return "SPOT"
        case OnDemand() | OpenReservation() | TargetedReservation() | ReservationGroup():
            return "ONDEMAND"
        case TrainingPlan():
            raise ValueError("a training plan buys HyperPod instances, and AWS PCS can't use one; use a Capacity Block")
        case _:
            assert_never(capacity)
