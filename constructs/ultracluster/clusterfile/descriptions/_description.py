"""Description of a part of a cluster."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """Description of a part of a cluster.

    Args:
        name: Name of the part, such as `lustre`.
        lines: Lines for people.
        facts: Values for programs, which JSON can hold; None if the cluster does not create the part.
    """

    name: str
    lines: list[str] = field(default_factory=list)
    facts: Any = None
