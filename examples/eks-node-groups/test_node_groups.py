"""The stack of the project, offline."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import assertions
from node_groups import GpuNodes

from ultracluster.testing import assert_matches_snapshot


def test_template_matches_the_snapshot() -> None:
    """Review a difference, then: pytest --update-snapshots."""
    assert_matches_snapshot(GpuNodes(cdk.App(), "GpuNodes"), Path(__file__).parent / "node_groups.snapshot.json")


def test_groups_join_the_existing_cluster() -> None:
    """No cluster and no VPC is created."""
    template = assertions.Template.from_stack(GpuNodes(cdk.App(), "GpuNodes"))
    template.all_resources_properties("AWS::EKS::Nodegroup", {"ClusterName": "platform"})
    template.resource_count_is("AWS::EKS::Nodegroup", 2)
    template.resource_count_is("AWS::EKS::Cluster", 0)
    template.resource_count_is("AWS::EC2::VPC", 0)
