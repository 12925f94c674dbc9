"""How the command speaks: results on stdout, problems on stderr."""

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

# Wide enough for the widest table, narrow enough for a mail or a CI log.
_WIDTH_OF_A_PIPE = 100


def fail(message: str) -> NoReturn:
    """Say what is wrong with the input and end with exit code 1, without a traceback."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


def misuse(message: str) -> NoReturn:
    """Say what is wrong with the way the command was called and end with exit code 2, without a traceback."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)


def console() -> "Console":
    """Where tables go: as wide as the terminal; into a pipe 100 columns, uncoloured."""
    # Here and not at the top: rich takes longer to load than most commands take to run.
    from rich.console import Console

    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=_WIDTH_OF_A_PIPE)
