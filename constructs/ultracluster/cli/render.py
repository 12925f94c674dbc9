"""`ultracluster render`: files that follow from a cluster file, for people and programs that want no CDK.

A further kind of files is one function, one line of `_KINDS` and one option of `render`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracluster.cli.output import console, fail, misuse
from ultracluster.cli.writing import Fate, RenderedFile, write_files

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import ClusterFile


def _jobs(cluster: "ClusterFile") -> list[RenderedFile]:
    from ultracluster import workloads

    return [RenderedFile(path=job.path, text=job.text, what=job.what) for job in workloads.slurm_jobs(cluster)]


#: The kinds by the names of their options. Each says all of its files; none: the cluster has nothing of that kind.
_KINDS: Mapping[str, Callable[["ClusterFile"], Sequence[RenderedFile]]] = {"jobs": _jobs}


def render(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cluster file.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files are written.")],
    jobs: Annotated[bool, typer.Option("--jobs", help="Job files: training, RL, inference, NCCL test.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files with other content.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="What was written, as JSON.")] = False,
) -> None:
    """Write the files of a kind that follow from a cluster file."""
    from ultracluster import clusterfile

    wanted = [kind for kind, asked in {"jobs": jobs}.items() if asked]
    if not wanted:
        misuse(f"say what to render: {', '.join(f'--{kind}' for kind in _KINDS)}")
    try:
        cluster = clusterfile.load(file)
    except clusterfile.ClusterFileError as error:
        fail(f"the cluster file is not good\n{error}")
    files: list[RenderedFile] = []
    for kind in wanted:
        found = _KINDS[kind](cluster)
        if not found:
            fail(f"--{kind}: {file} has nothing to render them for; a queue with GPUs is needed")
        files += found
    try:
        fates = write_files(files, out, force=force)
    except ValueError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write to {out}: {error.strerror}: {error.filename}")
    if json_:
        rows = [
            {"path": str(out / one.path), "what": one.what, "fate": fate}
            for one, fate in zip(files, fates, strict=True)
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    console().print(_table(files, fates, out))


def _table(files: Sequence[RenderedFile], fates: Sequence[Fate], out: Path) -> "Table":
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(str(out)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("file", no_wrap=True)
    table.add_column("what", overflow="fold")
    table.add_column("", no_wrap=True)
    for file, fate in zip(files, fates, strict=True):
        table.add_row(escape(file.path), escape(file.what), fate)
    return table
