"""Reading a cluster file: everything that is wrong with it at once, each thing with its place."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ValidationError

from ultracluster.clusterfile import translate, yaml_tree
from ultracluster.clusterfile.checks import file as checks
from ultracluster.clusterfile.cluster_file import ClusterFile
from ultracluster.clusterfile.draft import Draft
from ultracluster.clusterfile.problems import ClusterFileError, Located, Path, Problem, field_name

#: What looks at a cluster file with more knowledge than a file has of itself.
Further = Callable[[ClusterFile], Iterable[Problem]]


def load(path: str | os.PathLike[str], *, further: Further | None = None) -> ClusterFile:
    """Read a cluster file from disk and check it whole.

    Args:
        path: The file.
        further: What looks at a file in which nothing else is wrong, such as `kubernetes.file_problems`.

    Raises:
        ClusterFileError: When it can't be read, or describes no cluster that can be.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            raw = file.read(yaml_tree.MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refusal(name, "there is no such file; examples are in examples/") from None
    except IsADirectoryError:
        raise _refusal(name, "is a directory; name a file in it") from None
    except (OSError, ValueError) as error:
        raise _refusal(name, f"can't be read: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > yaml_tree.MAX_BYTES:
        raise _refusal(name, "is larger than 1 MiB; a cluster file has some ten lines, is it the right one?")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        message = f"the byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise ClusterFileError(name, [Located(line=line, column=column, field="", message=message)]) from None
    return loads(text, name, further=further)


def loads(text: str, name: str, *, further: Further | None = None) -> ClusterFile:
    """Read a cluster file from a text and check it whole.

    Args:
        text: YAML.
        name: What errors call it.
        further: As for `load`.

    Raises:
        ClusterFileError: When it describes no cluster that can be.
    """
    if len(text.encode(errors="replace")) > yaml_tree.MAX_BYTES:
        raise _refusal(name, "is larger than 1 MiB; a cluster file has some ten lines, is it the right one?")
    try:
        tree, located = yaml_tree.parse(text)
    except yaml_tree.NotATree as error:
        raise ClusterFileError(name, error.problems) from None
    data, empty = _without_empty(tree.plain())
    cluster = None
    problems = [Problem(path=path, message=translate.no_value(path), at_key=True) for path in empty]
    try:
        cluster = ClusterFile.model_validate(data)
    except ValidationError as error:
        found = translate.problems(error.errors(include_url=False))
        problems += [problem for problem in found if problem.path not in empty]
    problems += checks.check(Draft.of(data))
    if further is not None and cluster is not None and not (problems or located):
        problems += further(cluster)
    for problem in problems:
        line, column = tree.place(problem.path, at_key=problem.at_key)
        located.append(Located(line=line, column=column, field=field_name(problem.path), message=problem.message))
    if located or cluster is None:
        raise ClusterFileError(name, located)
    return cluster


def _without_empty(value: Any, path: Path = ()) -> tuple[Any, list[Path]]:
    """The value without keys that have none, and where those were: `lustre:` alone would read as no file system."""
    if not isinstance(value, dict):
        return value, []
    kept: dict[str, Any] = {}
    empty: list[Path] = []
    for key, child in value.items():
        if child is None:
            empty.append((*path, key))
        else:
            kept[key], below = _without_empty(child, (*path, key))
            empty += below
    return kept, empty


def _refusal(name: str, message: str) -> ClusterFileError:
    return ClusterFileError(name, [Located(line=1, column=1, field="", message=message)])
