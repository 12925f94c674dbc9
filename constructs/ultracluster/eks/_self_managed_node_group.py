"""Self-managed nodes of EKS."""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.catalogue.schedulers import eks as facts
from ultracluster.cloudwatch import Alarms
from ultracluster.compute import (
    AutoScalingGroupMetrics,
    NodeGroupTemplate,
    auto_scaling_group,
    auto_scaling_group_alarms,
)
from ultracluster.eks._node_group import KUBELET_PORT
from ultracluster.network import check_private, check_same_vpc
from ultracluster.orchestration import NodeResource
from ultracluster.planning import checked, known
from ultracluster.planning.capacity import check_count
from ultracluster.rules import TOKEN, Refusal


@jsii.implements(cdk.ITaggableV2)
class EksSelfManagedNodeGroup(NodeResource):
    """Self-managed nodes in an Auto Scaling group, for capacity that managed node groups do not support.

    The nodes join by their user data (`boot.ClusterAccess`) and by an access entry of their role
    (`EksNodeRole.add_access_entry`). EKS neither drains, repairs nor updates them; without AWS Node Termination
    Handler, pods are not drained when the group scales in.

    Its tags reach its launch template too, and so volumes and network interfaces; another value is for new nodes only.

    Args:
        cluster_name: Name of the cluster. It must be known at synthesis: it is part of the key of a tag.
        name: Name of the group.
        template: Launch template for the service `self-managed`, with image, instance profile and user data.
        subnet: Private subnet of the nodes.
        count: Number of nodes.

    Raises:
        Refusal: If the name of the cluster is a token, the template is for another service or has no image, the number
            of nodes does not fit the capacity, or the subnet is public or of another VPC.

    See: https://docs.aws.amazon.com/eks/latest/userguide/launch-workers.html and ml-node-groups.html (read 2026-11-21)
    """

    @checked
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
        # EKS chooses no image for self-managed nodes.
        groups = {f"template.security_groups[{index}]": group for index, group in enumerate(template.security_groups)}
        problems: list[str] = [
            *template.problems("self-managed", "image"),
            *check_count(template.capacity, count),
            *check_same_vpc({"subnet": subnet, **groups}),
            *check_private({"subnet": subnet}),
        ]
        if cdk.Token.is_unresolved(cluster_name):
            message = "cluster_name must be known at synthesis, got a token: it is part of the key of a tag"
            problems.append(TOKEN(message))
        elif known(cluster_name):
            problems += [f"cluster_{problem}" for problem in facts.check_cluster_name(cluster_name)]
        if problems:
            raise Refusal(self, problems)
        #: Launch template.
        self.template = template
        #: Name of the group.
        self.name = name
        #: Number of nodes.
        self.count = count
        self._set_nodes(template.security_groups, KUBELET_PORT, template)
        self.resource = auto_scaling_group(
            self,
            template=template,
            subnet=subnet,
            count=count,
            tags={f"kubernetes.io/cluster/{cluster_name}": "owned", "Name": name},
        )
        self.resource.cooldown = "300"

    @property
    def cdk_tag_manager(self) -> cdk.TagManager:
        """Tags of the launch template: those of instances, volumes and network interfaces."""
        return self.template.cdk_tag_manager

    @property
    def metrics(self) -> AutoScalingGroupMetrics:
        """CloudWatch metrics of the Auto Scaling group."""
        return AutoScalingGroupMetrics(self.resource.ref, self)

    @property
    def alarms(self) -> Alarms:
        """CloudWatch alarms of the Auto Scaling group."""
        return auto_scaling_group_alarms(self, self.resource.ref)
