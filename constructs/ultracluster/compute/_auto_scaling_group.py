"""Auto Scaling groups of a fixed number of nodes."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.compute._node_group_template import NodeGroupTemplate
from ultracluster.compute._scale_in import ScaleInBeforeEnd
from ultracluster.planning.capacity import Block, min_nodes, waits

_L1 = autoscaling.CfnAutoScalingGroup


def auto_scaling_group(
    scope: Construct,
    *,
    template: NodeGroupTemplate,
    subnet: ec2.ISubnet,
    count: int,
    tags: Mapping[str, str] | None = None,
) -> autoscaling.CfnAutoScalingGroup:
    """Create an Auto Scaling group of a fixed size, which scales in before its Capacity Block ends.

    Args:
        scope: Construct whose main resource it is.
        template: Launch template.
        subnet: Private subnet of the nodes.
        count: Number of nodes. Nodes of a Capacity Block start when it is `active`; until then the size is zero.
        tags: Tags of the group and its instances. Default: none.
    """
    block = template.capacity if isinstance(template.capacity, Block) else None
    group = _L1(
        scope,
        "Resource",
        min_size=str(min_nodes(template.capacity, count)),
        desired_capacity="0" if waits(template.capacity) else str(count),
        max_size=str(count),
        vpc_zone_identifier=[subnet.subnet_id],
        launch_template=_L1.LaunchTemplateSpecificationProperty(
            launch_template_id=template.launch_template_id, version=template.version_number
        ),
        # All metrics, which are free of charge; see `AutoScalingGroupMetrics`.
        metrics_collection=[_L1.MetricsCollectionProperty(granularity="1Minute")],
        health_check_type="EC2",
        # GPU nodes boot for minutes before a check is useful.
        health_check_grace_period=600,
        tags=[
            _L1.TagPropertyProperty(key=key, value=value, propagate_at_launch=True)
            for key, value in (tags or {}).items()
        ]
        or None,
    )
    cdk.Validations.of(group).acknowledge(
        cdk.Acknowledgment(id="AwsSolutions-AS3", reason="The group has a fixed size and no scaling events")
    )
    if block is not None and block.ends is not None:
        ScaleInBeforeEnd(scope, "ScaleIn", auto_scaling_group_name=group.ref, capacity=block)
    return group
