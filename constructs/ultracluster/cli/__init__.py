"""The command `ultracluster`. Exit codes: 0 good, 1 a problem in the input, 2 wrong usage."""

import typer

from ultracluster.cli import catalogue, files, guard, rehearse, render

app = typer.Typer(
    name="ultracluster",
    help="GPU clusters on AWS from a ten-line cluster file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("types", short_help="Show the catalogue of types, or all that is known of one.")(catalogue.types)
app.command("layout")(catalogue.layout)
app.command("check", short_help="Check a cluster file, and say what it describes.")(files.check)
app.command("schema")(files.schema)
app.command("guard", short_help="Refuse an update that would lose what holds data.")(guard.guard)
app.command("rehearse", short_help="Deploy, update and destroy on a local stand-in for AWS.")(rehearse.rehearse)
app.command("render")(render.render)


def main() -> None:
    """Run the command; the entry point of the distribution."""
    app()
