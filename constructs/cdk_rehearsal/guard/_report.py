"""Findings of the guard, as data."""

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Fate(StrEnum):
    """Effect of an update on a resource, the worst last."""

    KEPT = "kept"
    UPDATED = "updated in place"
    UNPROTECTED = "loses its protection"
    REFUSED = "update refused by the service"
    UNKNOWN = "cannot be known"
    REPLACED = "replaced"
    ORPHANED = "orphaned"
    DELETED = "deleted"

    @property
    def harmful(self) -> bool:
        """True if the guard refuses it unless the user names the resource."""
        return self not in (Fate.KEPT, Fate.UPDATED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Reason why something happens to a resource.

    Args:
        fate: What this cause alone brings about.
        property: The property, or attribute of the resource, that does it; "-" for the whole resource.
        reason: Why, in a sentence without a capital or a full stop.
    """

    fate: Fate
    property: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One stateful resource that changes.

    Args:
        stack: Name of its stack; "" when two single templates were compared.
        logical_id: Its logical id in the old template.
        type: Its resource type.
        holds: What would be lost with it.
        causes: Why, at least one.
        allowed: Whether the user named it.
    """

    stack: str
    logical_id: str
    type: str
    holds: str
    causes: tuple[Cause, ...]
    allowed: bool = False

    @property
    def name(self) -> str:
        """STACK/LOGICAL_ID, or the logical id alone."""
        return f"{self.stack}/{self.logical_id}" if self.stack else self.logical_id

    @property
    def fate(self) -> Fate:
        """Fate of the resource: the worst of the causes."""
        order = list(Fate)
        return max((cause.fate for cause in self.causes), key=order.index)

    @property
    def harmful(self) -> bool:
        """True if the guard refuses this unless the user names the resource."""
        return self.fate.harmful

    @property
    def refused(self) -> bool:
        """True if the guard refuses this."""
        return self.harmful and not self.allowed


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Fates of the stateful resources.

    Args:
        stateful: How many there were.
        findings: Those that change, in the order of the old templates.
        unused: Entries of `allow` without effect -> reason.
        skipped: Files of a directory that are no templates.
    """

    stateful: int
    findings: tuple[Finding, ...]
    unused: dict[str, str]
    skipped: tuple[str, ...] = ()

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The findings that the guard refuses."""
        return tuple(finding for finding in self.findings if finding.refused)

    @property
    def ok(self) -> bool:
        """True if the change may go on: nothing is refused, and no entry of `allow` is without effect."""
        return not self.refused and not self.unused

    @property
    def summary(self) -> str:
        """One line: how many resources, and what becomes of them."""
        counts = Counter(finding.fate for finding in self.findings)
        counts[Fate.KEPT] = self.stateful - len(self.findings)
        fates = ", ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])
        allowed = sum(finding.harmful and finding.allowed for finding in self.findings)
        noun = "resource" if self.stateful == 1 else "resources"
        return (
            f"{self.stateful} stateful {noun}"
            + (f": {fates}" if fates else "")
            + (f"; {len(self.refused)} refused" if self.refused else "")
            + (f"; {allowed} allowed" if allowed else "")
        )

    def lines(self) -> list[str]:
        """Everything that blocks the update, one line each, for an error message."""
        reasons = [
            f"{finding.name} ({finding.type}): {cause.fate}: {cause.property}: {cause.reason}"
            for finding in self.refused
            for cause in finding.causes
            if cause.fate.harmful
        ]
        return reasons + [f"--allow {name}: {why}" for name, why in self.unused.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        findings = [
            {**asdict(finding), "name": finding.name, "fate": finding.fate, "refused": finding.refused}
            for finding in self.findings
        ]
        return {
            "ok": self.ok,
            "summary": self.summary,
            "stateful": self.stateful,
            "findings": findings,
            "unused": self.unused,
            "skipped": list(self.skipped),
        }
