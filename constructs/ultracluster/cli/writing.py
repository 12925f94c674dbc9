"""Writing what was rendered: all files or none, and never over what somebody else wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Fate = Literal["written", "unchanged", "replaced"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RenderedFile:
    """A file to write.

    Args:
        path: Where, from the directory of all.
        text: What stands in it.
        what: What it is, in a few words.
    """

    path: str
    text: str
    what: str


def write_files(files: Sequence[RenderedFile], directory: Path, *, force: bool) -> list[Fate]:
    """Write files, and their directories.

    Args:
        files: What to write.
        directory: Where.
        force: Whether files with other content are replaced.

    Returns:
        What became of each.

    Raises:
        ValueError: When files with other content are there, all named, and `force` is not given; nothing is written.
        OSError: When the system refuses.
    """
    fates: list[Fate] = []
    for file in files:
        path = directory / file.path
        there = path.read_bytes() if path.exists() else None
        fates.append("written" if there is None else "unchanged" if there == file.text.encode() else "replaced")
    others = [str(directory / file.path) for file, fate in zip(files, fates, strict=True) if fate == "replaced"]
    if others and not force:
        raise ValueError(
            f"{len(others)} of these files are there with other content: {', '.join(others)}; nothing was written; "
            "--force replaces them, or take another directory"
        )
    for file, fate in zip(files, fates, strict=True):
        path = directory / file.path
        if fate != "unchanged":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.text.encode())
    return fates
