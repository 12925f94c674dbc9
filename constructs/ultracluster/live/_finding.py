"""Results of the checks of an account."""

from dataclasses import dataclass
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
