"""Nodes of EKS that an Auto Scaling group of ours launches."""

import aws_cdk as cdk
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.compute import CapacityBlock, NodeGroupTemplate, ScaleInBeforeEnd, UltraServerBlock
from ultracluster.orchestration.eks_node_group import check_nodes, waits

_L1 = autoscaling.CfnAutoScalingGroup


class EksSelfManagedNodeGroup(Construct):
    """Self-managed nodes, for capacity that managed node groups have no word for, and for images with own needs.

    The nodes join by what their user data says (`planning.ClusterAccess`) and by an access entry of their role
    (`EksNodeRole.let_in`). EKS neither drains, repairs nor updates them; without AWS Node Termination Handler, pods are
    not drained when the group scales in.

    Args:
        cluster_name: Name of the cluster, as text: it is the key of a tag.
        name: Name of the group.
        template: Its launch template, for the service `self-managed`, with image, instance profile and user data.
        subnet: The private subnet of its nodes.
        count: How many nodes.

    Raises:
        ValueError: When the template is another service's or lacks its image, or the number of nodes does not fit.

    See: https://docs.aws.amazon.com/eks/latest/userguide/launch-workers.html and ml-node-groups.html (read 2026-11-21)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        name: str,
        template: NodeGroupTemplate,
        subnet: ec2.ISubnet,
        count: int,
    ) -> None:
        super().__init__(scope, id)
        problems = check_nodes(template, count, "self-managed")
        if template.image is None:
            problems.append("the template must name an image: nobody else does for self-managed nodes")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        self.template = template
        self.name = name
        self.count = count
        capacity = template.capacity
        block = capacity if isinstance(capacity, CapacityBlock | UltraServerBlock) else None
        self.resource = _L1(
            self,
            "Resource",
            min_size="0" if block else str(count),
            desired_capacity="0" if waits(capacity) else str(count),
            max_size=str(count),
            vpc_zone_identifier=[subnet.subnet_id],
            launch_template=_L1.LaunchTemplateSpecificationProperty(
                launch_template_id=template.launch_template_id, version=template.latest_version
            ),
            health_check_type="EC2",
            # Nodes boot for minutes before they are worth a check.
            health_check_grace_period=600,
            cooldown="300",
            tags=[
                _L1.TagPropertyProperty(key=key, value=value, propagate_at_launch=True)
                for key, value in ((f"kubernetes.io/cluster/{cluster_name}", "owned"), ("Name", name))
            ],
        )
        cdk.Validations.of(self.resource).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-AS3",
                reason="The group stands at a fixed size, and Kubernetes says which nodes there are",
            )
        )
        if block is not None and block.ends is not None:
            ScaleInBeforeEnd(self, "ScaleIn", auto_scaling_group_name=self.resource.ref, capacity=block)
