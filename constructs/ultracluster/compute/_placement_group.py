"""Placement groups that keep their nodes when a tag changes."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.catalogue.ec2 import PARTITIONS_PER_GROUP


def new_placement_group(scope: Construct, strategy: ec2.PlacementGroupStrategy) -> ec2.PlacementGroup:
    """Create a placement group without tags.

    CloudFormation replaces a placement group whose tags change, and a template that names another group replaces its
    nodes: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-placementgroup.html
    (read 2026-11-23).

    Args:
        scope: Its scope.
        strategy: Its strategy. A group of partitions has as many as EC2 allows.
    """
    partitions = PARTITIONS_PER_GROUP if strategy == ec2.PlacementGroupStrategy.PARTITION else None
    group = ec2.PlacementGroup(scope, "PlacementGroup", strategy=strategy, partitions=partitions)
    resource = group.node.default_child
    assert isinstance(resource, ec2.CfnPlacementGroup)
    resource.add_property_deletion_override("Tags")
    return group
