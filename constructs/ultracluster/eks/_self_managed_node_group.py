"""Self-managed nodes of EKS."""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.compute import NodeGroupTemplate, ScaleInBeforeEnd
from ultracluster.eks._node_group import check_nodes, kubelet_connections, waits
from ultracluster.planning.capacity import CapacityBlock, UltraServerBlock

_L1 = autoscaling.CfnAutoScalingGroup


@jsii.implements(ec2.IConnectable)
class EksSelfManagedNodeGroup(cdk.Resource):
    """Self-managed nodes in an Auto Scaling group, for capacity that managed node groups do not support.

    The nodes join by their user data (`boot.ClusterAccess`) and by an access entry of their role
    (`EksNodeRole.add_access_entry`). EKS neither drains, repairs nor updates them; without AWS Node Termination
    Handler, pods are not drained when the group scales in.

    Args:
        cluster_name: Name of the cluster. It must be known at synthesis: it is part of the key of a tag.
        name: Name of the group.
        template: Launch template for the service `self-managed`, with image, instance profile and user data.
        subnet: Private subnet of the nodes.
        count: Number of nodes.

    Raises:
        ValueError: If the name of the cluster is a token, the template is for another service or has no image, or the
            number of nodes does not fit the capacity.

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
            problems.append("the template must have an image: EKS chooses none for self-managed nodes")
        if cdk.Token.is_unresolved(cluster_name):
            problems.append("cluster_name must be known at synthesis, got a token: it is part of the key of a tag")
        if problems:
            raise ValueError("\n".join(f"{self.node.path}: {problem}" for problem in problems))
        #: Launch template.
        self.template = template
        #: Name of the group.
        self.name = name
        #: Number of nodes.
        self.count = count
        self._connections = kubelet_connections(template.security_groups)
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
                launch_template_id=template.launch_template_id, version=template.version_number
            ),
            health_check_type="EC2",
            # Nodes boot for minutes before a check is useful.
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
                reason="The group has a fixed size, and Kubernetes reports its nodes",
            )
        )
        if block is not None and block.ends is not None:
            ScaleInBeforeEnd(self, "ScaleIn", auto_scaling_group_name=self.resource.ref, capacity=block)

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the nodes; the default port is that of the kubelet."""
        return self._connections
