"""The stack of the project, offline."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import assertions
from slurm_app import Research

from ultracluster.testing import assert_matches_snapshot


def test_template_matches_the_snapshot() -> None:
    """Review a difference, then: pytest --update-snapshots."""
    assert_matches_snapshot(Research(cdk.App(), "Research"), Path(__file__).parent / "research.snapshot.json")


def test_nodes_reach_the_database() -> None:
    """The rule is on the database's security group."""
    template = assertions.Template.from_stack(Research(cdk.App(), "Research"))
    template.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress", {"Description": "Jobs record their results", "IpProtocol": "tcp"}
    )
