"""Output of the command: results on stdout, problems on stderr."""

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

# Wide enough for the widest table, narrow enough for a mail or a CI log.
_WIDTH_OF_A_PIPE = 100


def fail(message: str) -> NoReturn:
    """Print a problem of the input and exit with code 1, without a traceback."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


def misuse(message: str) -> NoReturn:
    """Print wrong usage and exit with code 2, without a traceback."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)


def console() -> "Console":
    """Console for tables: as wide as the terminal; 100 columns without colours in a pipe."""
    # Here and not at the top: rich takes longer to load than most commands take to run.
    from rich.console import Console

    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=_WIDTH_OF_A_PIPE)
