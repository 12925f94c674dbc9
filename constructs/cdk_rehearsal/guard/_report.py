"""Findings of the guard, as data."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from cdk_rehearsal.registry import USED_BY_JOBS


class Fate(StrEnum):
    """Effect of an update on a resource, the worst last."""

    KEPT = "kept"
    UPDATED = "updated in place"
    UNAVAILABLE = "unavailable meanwhile"
    RISKED = "ends nodes if it fails"
    TAINTED = "taints nodes"
    DRAINED = "replaces nodes"
    FEWER = "fewer nodes"
    SHRUNK = "deletes data"
    UNPROTECTED = "loses its protection"
    REFUSED = "update refused by the service"
    UNKNOWN = "cannot be known"
    REPLACED = "replaced"
    ORPHANED = "orphaned"
    DELETED = "deleted"

    @property
    def harmful(self) -> bool:
        """True if the guard refuses it unless the user names the resource."""
        return self not in (*_HARMLESS, Fate.UNAVAILABLE, Fate.RISKED, Fate.TAINTED, Fate.DRAINED, Fate.FEWER)

    @property
    def ends_nodes(self) -> bool:
        """True if running nodes, or jobs on them, end or may end when this happens to nodes or data."""
        return self not in (*_HARMLESS, Fate.UNPROTECTED)


_HARMLESS = (Fate.KEPT, Fate.UPDATED)


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
        replacement: Replacement in CloudFormation's change set: True, Conditional or False; "" without one.
    """

    stack: str
    logical_id: str
    type: str
    holds: str
    causes: tuple[Cause, ...]
    allowed: bool = False
    replacement: str = ""

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
    """Fates of the stateful resources, and of the groups of nodes.

    Args:
        stateful: How many stateful resources there were.
        findings: Those that change, in the order of the old templates.
        unused: Entries of `allow` without effect -> reason.
        skipped: Files of a directory that are no templates.
        groups: How many groups of nodes there were.
        nodes: Those that change, and what ends although jobs use it: queues, NAT gateways, their addresses.
        in_place: Resources whose update, or end, running nodes or their users notice.
        moved: Groups of nodes and queues that move to another stack under the same name -> the new stack. No entry of
            `allow` fits: CloudFormation may create the new one before it deletes the old one, and the name is taken.
        broken: What a service refuses in resources that are new or change, a line each.
        running: Whether `ok` requires that no node ends unless the user named its group.
    """

    stateful: int
    findings: tuple[Finding, ...]
    unused: dict[str, str]
    skipped: tuple[str, ...] = ()
    groups: int = 0
    nodes: tuple[Finding, ...] = ()
    in_place: tuple[Finding, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    running: bool = False

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The findings that the guard refuses."""
        data = [finding for finding in self.findings if finding.refused]
        names = {finding.name for finding in data}
        ending = [finding for finding in self.nodes if finding.fate.ends_nodes and not finding.allowed]
        ending += [finding for finding in self.unavailable if not finding.allowed]
        ending = [finding for finding in ending if finding.name not in names | self.moved.keys()]
        return (*data, *(ending if self.running else ()))

    @property
    def unavailable(self) -> tuple[Finding, ...]:
        """The resources with data that jobs cannot reach during the update, without those of a worse fate."""
        return tuple(finding for finding in self.findings if finding.fate is Fate.UNAVAILABLE)

    @property
    def ok(self) -> bool:
        """True if the change may go on: nothing is refused, and no entry of `allow` is without effect."""
        return not self.refused and not self.unused and not self.broken and not self.moved

    def without(self, findings: Collection[Finding]) -> "Report":
        """Return the report after some findings were allowed."""
        ids = {id(finding) for finding in findings}

        def allowed(rows: tuple[Finding, ...]) -> tuple[Finding, ...]:
            return tuple(replace(row, allowed=True) if id(row) in ids else row for row in rows)

        return replace(self, findings=allowed(self.findings), nodes=allowed(self.nodes))

    @property
    def summary(self) -> str:
        """One line: how many resources, and what becomes of them."""
        refused = len([finding for finding in self.findings if finding.refused])
        allowed = sum(finding.harmful and finding.allowed for finding in self.findings)
        return (
            _counted("stateful resource", self.stateful, self.findings)
            + (f"; {refused} refused" if refused else "")
            + (f"; {allowed} allowed" if allowed else "")
        )

    @property
    def node_summary(self) -> str:
        """One line: how many groups of nodes, and what becomes of them."""
        groups = tuple(finding for finding in self.nodes if finding.type not in USED_BY_JOBS)
        return _counted("node group", self.groups, groups)

    def lines(self) -> list[str]:
        """Everything that blocks the update, one line each, for an error message."""
        reasons = [
            f"{finding.name} ({finding.type}): {cause.fate}: {cause.property}: {cause.reason}"
            for finding in self.refused
            for cause in finding.causes
            if cause.fate.harmful or (finding in (*self.nodes, *self.unavailable) and cause.fate.ends_nodes)
        ]
        moves = [
            f"{name} moves to {stack} under the same name, which is taken until the old one is deleted: keep it in its "
            "stack"
            for name, stack in self.moved.items()
        ]
        return [*reasons, *moves, *self.broken, *(f"--allow {name}: {why}" for name, why in self.unused.items())]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        refused = {finding.name for finding in self.refused}
        findings, nodes, in_place = (
            [
                {**asdict(finding), "name": finding.name, "fate": finding.fate, "refused": finding.name in refused}
                for finding in listed
            ]
            for listed in (self.findings, self.nodes, self.in_place)
        )
        return {
            "ok": self.ok,
            "summary": self.summary,
            "stateful": self.stateful,
            "findings": findings,
            "node_summary": self.node_summary,
            "groups": self.groups,
            "nodes": nodes,
            "in_place": in_place,
            "moved": dict(self.moved),
            "broken": list(self.broken),
            "unused": self.unused,
            "skipped": list(self.skipped),
        }


def _counted(noun: str, number: int, findings: tuple[Finding, ...]) -> str:
    counts = Counter(finding.fate for finding in findings)
    counts[Fate.KEPT] = number - len(findings)
    fates = ", ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])
    return f"{number} {noun}{'' if number == 1 else 's'}" + (f": {fates}" if fates else "")
