"""Helpers for the tests of whoever composes these constructs: offline, no AWS account.

Installed with the library, they add `--update-snapshots` to pytest.
"""

from ultracluster.testing.snapshot import assert_matches_snapshot, normalise

__all__ = ["assert_matches_snapshot", "normalise"]
