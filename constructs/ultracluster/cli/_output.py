"""Input and output of the commands: cluster files, results on stdout, problems on stderr."""

import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile

# Of the running command: failures print JSON too.
_JSON: ContextVar[bool] = ContextVar("json", default=False)


def record_json(requested: bool = False) -> bool:
    """Record whether the running command prints JSON."""
    _JSON.set(requested)
    return requested


JsonOption = Annotated[bool, typer.Option("--json", callback=record_json, help="Print JSON.")]
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="A cluster file.")]

# Columns in a pipe: of tables with sentences, narrow enough for a mail or a CI log; of others.
_PROSE, _WIDEST = 100, 2000


def fail(message: str) -> NoReturn:
    """Print a problem of the input and exit with code 1, without a traceback."""
    end(message, 1)


def misuse(message: str) -> NoReturn:
    """Print wrong usage and exit with code 2, without a traceback."""
    end(message, 2)


def end(message: str, code: int) -> NoReturn:
    """Print a problem, as JSON too if the command prints JSON, and exit."""
    typer.echo(f"error: {message}", err=True)
    if _JSON.get():
        print_json({"ok": False, "error": message})
    raise typer.Exit(code)


def load(file: str, *, orchestrator: str | None = None, what: str = "the cluster file") -> "ClusterFile":
    """Load a cluster file, or print all its problems, JSON on stdout, and exit with code 1."""
    from ultracluster import clusterfile

    try:
        return clusterfile.load(file, orchestrator=orchestrator)
    except clusterfile.ClusterFileError as error:
        if not _JSON.get():
            number = len(error.problems)
            more = "\nRules that read a value which is not valid are checked once it is." if error.incomplete else ""
            fail(f"{number} problem{'s' if number > 1 else ''} in {what}\n{error}{more}")
        problems = [
            {"line": p.line, "column": p.column, "field": p.field, "message": p.message, "rule": p.rule}
            for p in error.problems
        ]
    print_json({"file": file, "ok": False, "problems": problems})
    raise typer.Exit(1)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))


def console(*, wraps: bool = True) -> "Console":
    """Console for tables, without colors in a pipe.

    Args:
        wraps: Lines are as wide as the terminal, or 100 columns in a pipe. Otherwise, a row is one line in a pipe,
            which has no width, so that programs find names in it.
    """
    # Here and not at the top: rich takes longer to load than most commands take to run.
    from rich.console import Console

    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=_PROSE if wraps else _WIDEST)


def print_table(rows: "Table", *, wraps: bool = True) -> None:
    """Print a table, of which no word is cut. In a terminal that is narrower, each row is a few lines instead.

    Args:
        rows: Table.
        wraps: As of `console`.
    """
    out = console(wraps=wraps)
    wide = out.options.update(width=_WIDEST)
    for column in rows.columns:
        if column.no_wrap:
            column.min_width = max(out.measure(cell, options=wide).maximum for cell in (column.header, *column.cells))
    if out.measure(rows, options=wide).minimum > out.width:
        _print_lines(rows, out)
    else:
        out.print(rows)


def _print_lines(rows: "Table", out: "Console") -> None:
    """Print cells that do not wrap in one line, and others below it. The terminal continues a name that is longer."""
    names = [column for column in rows.columns if column.no_wrap]
    others = [column for column in rows.columns if not column.no_wrap]
    out.print(*([rows.title] if rows.title else []), " ".join(str(column.header) for column in names), sep="\n")
    for cells in zip(*(zip(column.cells) for column in (*names, *others)), strict=True):
        texts = [str(cell) for (cell,) in cells]
        out.print(" ".join(filter(None, texts[: len(names)])), soft_wrap=True)
        for column, text in zip(others, texts[len(names) :], strict=True):
            out.print(f"  {column.header}: {text}")


def table(title: str | None, *columns: str, **options: Any) -> "Table":
    """Create a table.

    Args:
        title: Title, or None.
        *columns: Headings of columns that do not wrap; one that begins with `>` holds numbers.
        **options: Options of `rich.table.Table`.
    """
    from rich import box
    from rich.table import Table

    style: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD, "pad_edge": False}
    result = Table(title=title, **style, **options)
    for column in columns:
        justify: Any = "right" if column.startswith(">") else "left"
        result.add_column(column.removeprefix(">"), justify=justify, no_wrap=True)
    return result
