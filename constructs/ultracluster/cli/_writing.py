"""Write rendered files: all or none, and never over a file with other content."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from ultracluster.cli._output import table

if TYPE_CHECKING:
    from rich.table import Table

    from ultracluster.clusterfile import Located

Result = Literal["written", "unchanged", "replaced", "removed"]
# Folders that are applied as a whole.
_APPLIED = ("objects", "argo-cd/applications")


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderedFile:
    """A file to write.

    Args:
        path: Path relative to the output directory.
        text: Content; bytes if it is not text.
        what: Description in a few words.
        notes: Keys of the cluster file that it does not carry over.
    """

    path: str
    text: str | bytes
    what: str
    notes: "tuple[Located, ...]" = ()

    @property
    def data(self) -> bytes:
        return self.text if isinstance(self.text, bytes) else self.text.encode()


def stale_files(files: Sequence[RenderedFile], directory: Path) -> list[RenderedFile]:
    """Return the rendered objects of a directory that are no longer rendered: Argo CD and kubectl would apply them.

    A file of the user's has another name than `render` gives to its object.
    """
    paths = {file.path for file in files}
    existing = [path for folder in _APPLIED for path in sorted((directory / folder).glob("*.yaml"))]
    left = {path.relative_to(directory).as_posix(): path for path in existing}
    return [
        RenderedFile(path=name, text=path.read_bytes(), what="no longer in the cluster file")
        for name, path in left.items()
        if name not in paths and _is_rendered(path)
    ]


def _is_rendered(path: Path) -> bool:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ultracluster.kubernetes import is_rendered

    try:
        documents = [*YAML(typ="safe").load_all(path.read_bytes())]
    except YAMLError:
        return False
    return len(documents) == 1 and is_rendered(path.name, documents[0])


def write_files(
    files: Sequence[RenderedFile], directory: Path, *, force: bool, stale: Sequence[RenderedFile] = ()
) -> list[Result]:
    """Write files, remove stale ones, and return the result for each, in this order.

    Raises:
        ValueError: If files with other content or stale ones exist and `force` is not set; it names them all. Nothing
            is written.
    """
    results: list[Result] = []
    for file in files:
        path = directory / file.path
        existing = path.read_bytes() if path.exists() else None
        results.append("written" if existing is None else "unchanged" if existing == file.data else "replaced")
    others = [str(directory / file.path) for file, result in zip(files, results, strict=True) if result == "replaced"]
    left = [str(directory / file.path) for file in stale]
    refused = [
        *([f"{len(others)} of these files exist with other content: {', '.join(others)}"] if others else ()),
        *([f"{len(left)} files are no longer rendered: {', '.join(left)}"] if left else ()),
    ]
    if refused and not force:
        raise ValueError(
            f"{'; '.join(refused)}; nothing was written; --force replaces {'and removes ' * bool(left)}them, or use "
            "another directory"
        )
    for file, result in zip(files, results, strict=True):
        path = directory / file.path
        if result != "unchanged":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
    for file in stale:
        (directory / file.path).unlink()
        results.append("removed")
    return results


def print_notes(files: Sequence[RenderedFile], name: str) -> None:
    """Print on stderr what files do not carry over, one line for each key of the cluster file."""
    notes = [note for file in files for note in file.notes]
    if notes:
        typer.echo(f"not carried over, or not as it is: {len(notes)}", err=True)
    for note in notes:
        typer.echo(note.render(name), err=True)


def written_json(files: Sequence[RenderedFile], results: Sequence[Result], directory: Path) -> list[dict[str, Any]]:
    """Return what was written, for programs."""
    rows: list[dict[str, Any]] = []
    for file, result in zip(files, results, strict=True):
        row: dict[str, Any] = {"path": str(directory / file.path), "what": file.what, "fate": result}
        if file.notes:
            row["notes"] = [
                {"line": n.line, "column": n.column, "field": n.field, "message": n.message} for n in file.notes
            ]
        rows.append(row)
    return rows


def written_table(files: Sequence[RenderedFile], results: Sequence[Result], directory: Path) -> "Table":
    from rich.markup import escape

    rows = table(escape(str(directory)), "file")
    rows.add_column("what", overflow="fold")
    rows.add_column("", no_wrap=True)
    for file, result in zip(files, results, strict=True):
        rows.add_row(escape(file.path), escape(file.what), result)
    return rows
