"""Report of a rehearsal: the final table, as data and for people."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cdk_rehearsal.registry import has_service_rules
from cdk_rehearsal.rehearsal._blueprint import Maker
from cdk_rehearsal.rehearsal._journal import Action, Entry, Journal, StandIn
from cdk_rehearsal.rehearsal._state import Stack, Stacks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LIMITS = (
    "capacity: whether AWS has the instances, or your reservation holds them",
    "service quotas of the account",
    "IAM: every action is allowed, so a missing permission does not show",
    "what services check beyond the registry schema and our rules for some types (an AMI that does not exist)",
    "time: hours of creation pass in milliseconds, and nothing times out",
    "nodes: nothing boots, mounts, joins a scheduler or sends a packet over EFA",
    "AWS's own choices: zone names, addresses, versions and ids are made up",
)
_MADE = (Action.CREATE, Action.REPLACE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of the rehearsal.

    Args:
        name: What was done.
        seconds: How long it took.
        ok: Whether it did what it should.
        changes: Resources by what happened to them in this step.
        reasons: Why it failed.
    """

    name: str
    seconds: float
    ok: bool
    changes: dict[str, int] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


class Listener(Protocol):
    """Receiver of the progress of a rehearsal."""

    def begin(self, name: str) -> None:
        """Handle the start of a step."""

    def line(self, text: str) -> None:
        """Handle a line that the CLI printed."""

    def end(self, step: Step) -> None:
        """Handle the end of a step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Result of a rehearsal.

    Args:
        steps: The steps, in order.
        stacks: Resources made per stack.
        types: Number of created resources by type and creator.
        stand_ins: Values that were made up.
        retained: Resources that are left over because a policy keeps them.
        notes: Limits of the rehearsal that apply to the app.
        outputs: Values of the outputs by stack and name, without those that other stacks import.
        limits: What a rehearsal cannot show.
    """

    steps: tuple[Step, ...]
    stacks: dict[str, int]
    types: dict[str, dict[str, int]]
    stand_ins: tuple[StandIn, ...]
    retained: tuple[Entry, ...]
    notes: tuple[str, ...]
    limits: tuple[str, ...] = LIMITS
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if every step did what it should."""
        return bool(self.steps) and all(step.ok for step in self.steps)

    @property
    def resources(self) -> int:
        """Number of resources that were created."""
        return sum(self.stacks.values())

    @property
    def made_by(self) -> dict[str, int]:
        """Number of resources by what made them."""
        return dict(sum(map(Counter, self.types.values()), Counter[str]()))

    def validated_by(self, type_name: str) -> str:
        """Return what validated the properties of a type."""
        if not self.types[type_name].keys() - {Maker.HANDLER, Maker.STAND_IN, Maker.STACK}:
            return ""
        return "schema, rules of the service" if has_service_rules(type_name) else "schema"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        validated = {name: self.validated_by(name) for name in self.types}
        return {
            "ok": self.ok,
            "resources": self.resources,
            "made_by": self.made_by,
            "validated_by": validated,
            **asdict(self),
        }

    def print(self, console: "Console") -> None:
        """Print the report as tables."""
        console.print(self._steps_table())
        console.print(self._stacks_table())
        console.print(self._types_table())
        sections = {
            "[bold]Stand-ins[/bold]: only AWS, or somebody else's code, has the real value": [
                f"{stand_in.kind} {stand_in.name} -> {stand_in.value}" for stand_in in self.stand_ins
            ],
            "[bold]Retained[/bold]: left over on purpose, you delete them by hand": [
                f"{entry.stack}/{entry.logical_id} {entry.type} {entry.physical_id}" for entry in self.retained
            ],
            "[bold]Outputs[/bold]: as the deployment prints them, with made-up ids": [
                f"{stack}.{name} = {value}"
                for stack, outputs in self.outputs.items()
                for name, value in outputs.items()
            ],
            "[bold]Notes[/bold]": self.notes,
            "[bold]What a rehearsal cannot show[/bold]": self.limits,
        }
        for title, lines in sections.items():
            if lines:
                console.print(title)
            for line in lines:
                console.print(f"  {line}", markup=False, soft_wrap=True)

    def _steps_table(self) -> "Table":
        table = _table("Step", ">Seconds", "Resources", "Result")
        for step in self.steps:
            changes = ", ".join(f"{count} {action}" for action, count in step.changes.items())
            table.add_row(step.name, f"{step.seconds:.1f}", changes, "ok" if step.ok else "FAILED")
        return table

    def _stacks_table(self) -> "Table":
        table = _table("Stack", ">Resources made")
        for name, count in self.stacks.items():
            table.add_row(name, str(count))
        return table

    def _types_table(self) -> "Table":
        table = _table("Resource type", ">Made", "By", "Validated by")
        table.columns[0].no_wrap = True
        for name, makers in self.types.items():
            by = ", ".join(
                _MAKERS[maker] if len(makers) == 1 else f"{n} {_MAKERS[maker]}" for maker, n in makers.items()
            )
            table.add_row(name, str(sum(makers.values())), by, self.validated_by(name))
        table.add_section()
        by = ", ".join(f"{count} {_MAKERS[maker]}" for maker, count in self.made_by.items())
        table.add_row("all", str(self.resources), by)
        return table


_MAKERS: dict[str, str] = {
    Maker.MOTO: "moto's model",
    Maker.SCHEMA: "registry schema",
    Maker.HANDLER: "its handler, run for real",
    Maker.STAND_IN: "stand-in",
    Maker.STACK: "nested stack",
}


def report(*, steps: list[Step], journal: Journal, stacks: Stacks, leave_out: frozenset[str]) -> Report:
    """Sum up a rehearsal, without the stacks that are not the app's own (the CDK's bootstrap stack)."""
    created = [entry for entry in journal.entries(*_MADE) if entry.stack not in leave_out]
    types: dict[str, Counter[str]] = {}
    for entry in sorted(created, key=lambda entry: entry.type):
        types.setdefault(entry.type, Counter())[entry.maker.value] += 1
    return Report(
        steps=tuple(steps),
        stacks=dict(Counter(entry.stack for entry in created)),
        types={name: dict(counts) for name, counts in types.items()},
        stand_ins=tuple(journal.stand_ins),
        retained=_retained(entry for entry in journal if entry.stack not in leave_out),
        notes=tuple(journal.notes),
        outputs={stack.name: _outputs(stack) for stack in stacks if stack.name not in leave_out and _outputs(stack)},
    )


def _retained(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return what was retained, without what a later deployment imported."""
    left: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        if entry.action is Action.RETAIN:
            left[entry.type, entry.physical_id] = entry
        elif entry.action is Action.IMPORT:
            left.pop((entry.type, entry.physical_id), None)
    return tuple(left.values())


def _outputs(stack: Stack) -> dict[str, str]:
    return {name: str(it["OutputValue"]) for name, it in stack.outputs.items() if "ExportName" not in it}


def changes(entries: list[Entry]) -> dict[str, int]:
    """Count entries by what happened, in the past tense."""
    counts = Counter(entry.action for entry in entries)
    return {f"{action.rstrip('e')}ed": counts[action] for action in Action if counts[action]}


def _table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    return table
