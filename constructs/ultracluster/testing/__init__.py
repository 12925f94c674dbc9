"""Assertions for the tests of CDK apps: offline, without an AWS account.

Installed with the library, they add `--update-snapshots` to pytest.
"""

from cdk_rehearsal.snapshots import write_app_snapshots
from ultracluster.testing._lost_state import assert_nothing_stateful_is_lost
from ultracluster.testing._nodes import assert_efa_wired, assert_no_public_nodes, assert_reserved
from ultracluster.testing._snapshot import assert_app_matches_snapshot, assert_matches_snapshot
from ultracluster.testing._template_rules import TEMPLATE_RULES
from ultracluster.testing._update_rules import IN_PLACE, UPDATE_RULES

__all__ = [
    "IN_PLACE",
    "TEMPLATE_RULES",
    "UPDATE_RULES",
    "assert_app_matches_snapshot",
    "assert_efa_wired",
    "assert_matches_snapshot",
    "assert_no_public_nodes",
    "assert_nothing_stateful_is_lost",
    "assert_reserved",
    "write_app_snapshots",
]
