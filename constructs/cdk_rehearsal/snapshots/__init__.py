"""Snapshots of CloudFormation templates, and their difference resource by resource.

The effect of a difference (replaces, replaces nodes, ...) needs cfn-lint, which carries the registry schemas:
`pip install "cdk-ultracluster[guard]"`.
"""

from cdk_rehearsal.snapshots._changes import Change, changes
from cdk_rehearsal.snapshots._snapshot import (
    assert_app_matches_snapshot,
    assert_matches_snapshot,
    write_app_snapshots,
)
from cdk_rehearsal.snapshots._subject import template_of

__all__ = [
    "Change",
    "assert_app_matches_snapshot",
    "assert_matches_snapshot",
    "changes",
    "template_of",
    "write_app_snapshots",
]
