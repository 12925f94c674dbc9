"""`ultracluster guard`: refuse an update that would lose data."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster.cli._output import JsonOption, fail, misuse, print_json
from ultracluster.cli._templates import unnamed_templates
from ultracluster.cli._verdict import print_report, refusal
from ultracluster.testing import IN_PLACE, TEMPLATE_RULES, UPDATE_RULES

_Old = Annotated[str, typer.Argument(metavar="OLD", help="The deployed template, or a directory of them (cdk.out).")]
_New = Annotated[str, typer.Argument(metavar="NEW", help="The template to deploy, or a directory of them.")]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="LOGICAL_ID", help="Let this resource go. Repeatable; STACK/LOGICAL_ID too."),
]
_Running = Annotated[bool, typer.Option("--running", help="Refuse what ends running nodes, too.")]


def guard(old: _Old, new: _New, allow: _Allow = None, running: _Running = False, json_: JsonOption = False) -> None:
    """Refuse an update that would replace, delete or orphan a resource that holds data, and report what ends nodes."""
    try:
        from cdk_rehearsal import guard
    except ImportError as error:
        misuse(f'the guard needs more packages ({error.name} is missing): pip install "cdk-ultracluster[guard]"')
    if left := [str(path) for side in (old, new) for path in unnamed_templates(Path(side))]:
        misuse(f"{', '.join(left)}: stacks.json does not name them; delete those of stacks that left")
    try:
        report = guard.compare(
            old,
            new,
            allow=allow or (),
            update_rules=UPDATE_RULES,
            in_place=IN_PLACE,
            template_rules=TEMPLATE_RULES,
            running=running,
        )
    except guard.GuardError as error:
        misuse(str(error))
    if json_:
        print_json(report.to_dict())
        raise typer.Exit(0 if report.ok else 1)
    print_report(report)
    if not report.ok:
        fail(refusal(report))
