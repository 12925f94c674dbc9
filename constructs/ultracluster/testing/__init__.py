"""Helpers for the tests of whoever composes these constructs: offline, no AWS account.

Installed with the library, they add `--update-snapshots` to pytest.
"""

from ultracluster.testing.lost_state import assert_nothing_stateful_is_lost
from ultracluster.testing.snapshot import assert_matches_snapshot, normalise

__all__ = ["assert_matches_snapshot", "assert_nothing_stateful_is_lost", "normalise"]
