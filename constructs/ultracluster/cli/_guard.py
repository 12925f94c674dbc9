"""`ultracluster guard`: refuse an update that would lose data."""

from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli._output import JsonOption, console, fail, misuse, print_json, table
from ultracluster.testing import UPDATE_RULES

if TYPE_CHECKING:
    from rich.table import Table

    from cdk_rehearsal.guard import Finding, Report

_Old = Annotated[str, typer.Argument(metavar="OLD", help="The deployed template, or a directory of them (cdk.out).")]
_New = Annotated[str, typer.Argument(metavar="NEW", help="The template to deploy, or a directory of them.")]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="LOGICAL_ID", help="Let this resource go. Repeatable; STACK/LOGICAL_ID too."),
]


def guard(old: _Old, new: _New, allow: _Allow = None, json_: JsonOption = False) -> None:
    """Refuse an update that would replace, delete or orphan a resource that holds data."""
    try:
        from cdk_rehearsal import guard
    except ImportError as error:
        misuse(f'the guard needs more packages ({error.name} is missing): pip install "cdk-ultracluster[guard]"')
    try:
        report = guard.compare(old, new, allow=allow or (), update_rules=UPDATE_RULES)
    except guard.GuardError as error:
        misuse(str(error))
    if json_:
        print_json(report.to_dict())
        raise typer.Exit(0 if report.ok else 1)
    if report.findings:
        console().print(_table(report))
    for name in report.skipped:
        typer.echo(f"skipped: {name} is no template")
    typer.echo(f"{report.summary}.")
    if not report.ok:
        fail(_verdict(report))


def _verdict(report: "Report") -> str:
    lines = [f"--allow {name}: {why}" for name, why in report.unused.items()]
    if refused := report.refused:
        names = " ".join(f"--allow {finding.name}" for finding in refused)
        lines.insert(0, f"refused. If you mean it, and the data is safe elsewhere: {names}")
    return "\n".join(lines)


def _table(report: "Report") -> "Table":
    # Ids, types and reasons are long: five columns side by side would be five words wide.
    rows = table(None, show_edge=False, padding=(0, 2, 0, 0))
    rows.add_column("resource\ntype", overflow="fold")
    rows.add_column("what\nhappens", max_width=16)
    rows.add_column("property\nreason", overflow="fold", ratio=1)
    for finding in report.findings:
        for row in _rows(finding):
            rows.add_row(*row)
        rows.add_section()
    return rows


def _rows(finding: "Finding") -> list[tuple[str, ...]]:
    """One row for each cause that matters, the resource named in the first."""
    from rich.markup import escape

    causes = finding.causes if not finding.harmful else [cause for cause in finding.causes if cause.fate.harmful]
    rows = []
    for number, cause in enumerate(causes):
        resource = f"{finding.name}\n{finding.type}" if number == 0 else ""
        fate = f"{cause.fate}{' (allowed)' if finding.allowed else ''}"
        rows.append(tuple(map(escape, (resource, fate, f"{cause.property}\n{cause.reason}"))))
    return rows
