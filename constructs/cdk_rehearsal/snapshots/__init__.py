"""Snapshots of CloudFormation templates, and their difference resource by resource.

The effect of a difference (replaces, replaces nodes, ...) needs cfn-lint, which carries the registry schemas:
`pip install "cdk-ultracluster[guard]"`.
"""

from cdk_rehearsal.snapshots._changes import Change as Change
from cdk_rehearsal.snapshots._changes import changes as changes
from cdk_rehearsal.snapshots._snapshot import assert_app_matches_snapshot as assert_app_matches_snapshot
from cdk_rehearsal.snapshots._snapshot import assert_matches_snapshot as assert_matches_snapshot
from cdk_rehearsal.snapshots._snapshot import write_app_snapshots as write_app_snapshots
from cdk_rehearsal.snapshots._subject import template_of as template_of
