"""Results of the checks of an account."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

#: `pass`; `warn`: the deployment may succeed; `fail`: the deployment, or the launch of nodes, fails.
Status = Literal["pass", "warn", "fail"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Result of one check.

    Args:
        check: Id of the check, such as `live-quota`.
        status: `pass`, `warn` or `fail`.
        message: What AWS has, and what the cluster needs.
        fix: What to do, a command where there is one. Empty for `pass`.
    """

    check: str
    status: Status
    message: str
    fix: str = ""


def time_text(moment: datetime) -> str:
    """Return a time as the cluster file writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
