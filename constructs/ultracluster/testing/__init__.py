"""Assertions for the tests of CDK apps: offline, without an AWS account.

Installed with the library, they add `--update-snapshots` to pytest.
"""

from typing import TYPE_CHECKING, Any

from cdk_rehearsal.snapshots import write_app_snapshots
from ultracluster.testing._lost_state import assert_nothing_stateful_is_lost
from ultracluster.testing._nodes import assert_efa_wired, assert_no_public_nodes, assert_reserved
from ultracluster.testing._snapshot import assert_app_matches_snapshot, assert_matches_snapshot
from ultracluster.testing._template_rules import TEMPLATE_RULES
from ultracluster.testing._update_rules import IN_PLACE, UPDATE_RULES

if TYPE_CHECKING:
    from ultracluster.testing._cluster_rules import ClusterRules

__all__ = [
    "IN_PLACE",
    "TEMPLATE_RULES",
    "UPDATE_RULES",
    "ClusterRules",
    "assert_app_matches_snapshot",
    "assert_efa_wired",
    "assert_matches_snapshot",
    "assert_no_public_nodes",
    "assert_nothing_stateful_is_lost",
    "assert_reserved",
    "write_app_snapshots",
]

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.

    def __getattr__(name: str) -> Any:
        """Import `ClusterRules` on use: it needs the CDK, and each pytest run loads this package for its plugin."""
        if name != "ClusterRules":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ultracluster.testing._cluster_rules import ClusterRules

        return globals().setdefault(name, ClusterRules)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
