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
app.command("types")(catalogue.types)
app.command("layout")(catalogue.layout)
app.command("check")(files.check)
app.command("schema")(files.schema)
app.command("guard")(guard.guard)
app.command("rehearse")(rehearse.rehearse)
app.command("render")(render.render)


def main() -> None:
    """Run the command; the entry point of the distribution."""
    app()
