"""The stack of the project, offline."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import assertions
from storage_and_monitoring import Workstations

from ultracluster.testing import assert_matches_snapshot


def test_template_matches_the_snapshot() -> None:
    """Review a difference, then: pytest --update-snapshots."""
    assert_matches_snapshot(
        Workstations(cdk.App(), "Workstations"), Path(__file__).parent / "workstations.snapshot.json"
    )


def test_data_is_kept_when_the_stack_is_deleted() -> None:
    """File system and bucket."""
    template = assertions.Template.from_stack(Workstations(cdk.App(), "Workstations"))
    for type in ("AWS::FSx::FileSystem", "AWS::S3::Bucket"):
        template.all_resources(type, {"DeletionPolicy": assertions.Match.string_like_regexp("Retain")})
