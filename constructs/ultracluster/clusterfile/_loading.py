"""Reading a cluster file: every error is reported at once, each with its place."""

# The types of a new key are generated from its section, which imports this module.
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from ultracluster.clusterfile import _keys as keys
from ultracluster.clusterfile import _translate, _yaml_tree
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._problems import ClusterFileError, Located, Path, Problem, field_name
from ultracluster.clusterfile._scripts_of_file import resolve_files
from ultracluster.clusterfile.rules._reading import EMPTY, FILE, check_references
from ultracluster.clusterfile.sections._section import Invalid
from ultracluster.rules import file_checks

if TYPE_CHECKING:
    from ultracluster.clusterfile._draft import Draft
    from ultracluster.clusterfile.rules._rule import Rule

#: A section that `build` leaves out. It is not None, because type checkers name a misspelt key of one type only.
DEFAULT: Any = MappingProxyType({})


def load(path: str | os.PathLike[str], *, orchestrator: str | None = None) -> ClusterFile:
    """Read a cluster file from disk and check it.

    A file with `extends: base.yaml` is read as the base with the keys of the file: mappings are merged, everything else
    is replaced. Clusters that differ in three lines, such as dev and prod, are three lines each:

        extends: prod.yaml
        name: llama-dev
        nodes: {train: {count: 2, capacity: on-demand}}

    Args:
        path: The file.
        orchestrator: Orchestrator to check it for. Default: that of the file.

    Raises:
        ClusterFileError: If it cannot be read, or has errors.
    """
    name = os.fspath(path)
    return _check(*_read(name), name, orchestrator=orchestrator)


def rules() -> list[Rule]:
    """Return all rules of a cluster file, in the order of their ids."""
    # Here and not at the top: only a file that is checked needs the rules.
    from ultracluster.clusterfile.rules import _listing

    return _listing.rules()


def locate(path: str | os.PathLike[str], problems: Iterable[Problem]) -> list[Located]:
    """Return problems of a cluster file that was loaded, with their places, in the order of the file."""
    tree, _ = _read(os.fspath(path))
    return sorted(_located(problem, *tree.place(problem.path, at_key=problem.at_key)) for problem in problems)


def _read(name: str) -> tuple[_yaml_tree.Node, list[Located]]:
    """Read a file, and the base that it extends, as one tree."""
    tree, located = _parse(_text(name), name)
    base = tree.step("extends")
    if base is not None and isinstance(base.value, str):
        below = os.path.join(os.path.dirname(name), base.value)
        if not FilePath(below).exists():
            raise ClusterFileError(name, [_at(base, "extends", f"there is no file {below}; name the base")])
        lower, more = _parse(_text(below), below, file=below)
        if (again := lower.step("extends")) is not None:
            message = "a base cannot extend another file; write its keys here"
            raise ClusterFileError(name, [_at(again, "extends", message)])
        tree, located = tree.overlay(lower), [*more, *located]
    return tree, located


def loads(text: str, name: str) -> ClusterFile:
    """Read a cluster file from a text and check it. The text cannot extend another file.

    Args:
        text: YAML.
        name: Name of the file in errors.

    Raises:
        ClusterFileError: If it has errors.
    """
    if len(text.encode(errors="replace")) > _yaml_tree.MAX_BYTES:
        raise _refusal(name, "is larger than 1 MiB; a cluster file has some ten lines, is it the right one?")
    tree, located = _parse(text, name)
    if (base := tree.step("extends")) is not None:
        raise ClusterFileError(name, [_at(base, "extends", "only a file on disk can extend another one")])
    return _check(tree, located, name)


def build(
    *,
    name: str,
    region: str,
    zone: str,
    orchestrator: Literal["slurm", "kubernetes", "hyperpod-slurm", "hyperpod-kubernetes"],
    nodes: Mapping[str, keys.NodeGroup],
    account: str | None = None,
    image: str | keys.Image | None = None,
    software: Mapping[str, str] = DEFAULT,
    types: Mapping[str, keys.DeclaredType] = DEFAULT,
    slurm: keys.Slurm = DEFAULT,
    kubernetes: keys.Kubernetes = DEFAULT,
    hyperpod: keys.HyperPod = DEFAULT,
    network: keys.Network = DEFAULT,
    perimeter: keys.Perimeter = DEFAULT,
    storage: keys.Storage = DEFAULT,
    encryption_key: str | None = None,
    notifications: keys.Notifications = DEFAULT,
    observability: keys.Observability = DEFAULT,
    compliance: Sequence[Literal["hipaa", "nist-800-53", "pci-dss"]] = DEFAULT,
    tags: Mapping[str, str] = DEFAULT,
    accept: Mapping[str, str] = DEFAULT,
) -> ClusterFile:
    """Build a cluster file in Python, and check it as `load` does.

        build(name="llama", region="us-east-2", zone="use2-az1", orchestrator="slurm",
              nodes={"train": {"type": "p5en.48xlarge", "count": 64, "capacity": "cr-0123456789abcdef0"}},
              storage={"lustre": {"throughput": "40 GB/s"}})

    Mappings have the keys of the file, which type checkers check. The arguments are the keys at its top:
    `docs/reference/cluster-file.md`. `keys` has the type of each section, for values of their own.

    Raises:
        ClusterFileError: If it has errors.
    """
    arguments = {key: value for key, value in locals().items() if value is not None and value is not DEFAULT}
    return _built({key.replace("_", "-"): _raw(value) for key, value in arguments.items()})


def variant(cluster: ClusterFile, changes: Mapping[str, object]) -> ClusterFile:
    """Return a cluster file with changes, and check it as `load` does. The original stays as it is.

        dev = variant(prod, {"name": "llama-dev", "nodes": {"train": {"count": 2, "capacity": "on-demand"}}})

    Args:
        cluster: The cluster file.
        changes: Keys of the file: mappings are merged, everything else is replaced.

    Raises:
        ClusterFileError: If the variant has errors.
    """
    return _built(merged(cluster.model_dump(by_alias=True, exclude_unset=True), _raw(changes)))


def _built(data: dict[str, Any]) -> ClusterFile:
    cluster, problems = _assess(data)
    if problems or cluster is None:
        raise ClusterFileError("cluster", [_located(problem, 1, 1) for problem in problems])
    return cluster


def _raw(value: Any) -> Any:
    """Return a value of Python with the types that YAML gives."""
    if isinstance(value, Mapping):
        return {key: _raw(item) for key, item in value.items()}
    return [_raw(item) for item in value] if isinstance(value, list | tuple) else value


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of both, as `extends` merges them."""
    both = [key for key, value in changes.items() if isinstance(value, dict) and isinstance(base.get(key), dict)]
    return {**base, **changes, **{key: merged(base[key], changes[key]) for key in both}}


def _text(name: str) -> str:
    try:
        with open(name, "rb") as file:
            raw = file.read(_yaml_tree.MAX_BYTES + 1)
    except FileNotFoundError:
        raise _refusal(name, "there is no such file; `ultracluster init DIR` writes one") from None
    except IsADirectoryError:
        raise _refusal(name, "is a directory; name a file in it") from None
    except (OSError, ValueError) as error:
        raise _refusal(name, f"can't be read: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > _yaml_tree.MAX_BYTES:
        raise _refusal(name, "is larger than 1 MiB; a cluster file has some ten lines, is it the right one?")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        message = f"the byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        located = Located(line=line, column=column, field="", message=message, rule=FILE.id)
        raise ClusterFileError(name, [located]) from None


def _parse(text: str, name: str, file: str = "") -> tuple[_yaml_tree.Node, list[Located]]:
    try:
        tree, located = _yaml_tree.parse(text)
    except _yaml_tree.NotATree as error:
        raise ClusterFileError(name, [replace(problem, file=file) for problem in error.problems]) from None
    tree.assign(file)
    return tree, [replace(problem, file=file) for problem in located]


def _check(tree: _yaml_tree.Node, located: list[Located], name: str, **instead: str | None) -> ClusterFile:
    data, empty = _without_empty(tree.plain())
    data |= {key: value for key, value in instead.items() if value is not None}
    resolve_files(data, name)
    cluster, problems = _assess(data)
    problems = [problem for problem in problems if problem.path not in empty]
    problems += [EMPTY(path, _translate.no_value(path), at_key=True) for path in empty]
    located += [_located(problem, *tree.place(problem.path, at_key=problem.at_key)) for problem in problems]
    if located or cluster is None:
        raise ClusterFileError(name, located, incomplete=cluster is None)
    return cluster


def _located(problem: Problem, line: int, column: int, file: str = "") -> Located:
    field = field_name(problem.path)
    return Located(line=line, column=column, field=field, message=problem.message, rule=problem.rule, file=file)


def _assess(data: dict[str, Any]) -> tuple[ClusterFile | None, list[Problem]]:
    """Validate each section once, and apply the rules to what is valid."""
    from ultracluster.clusterfile._draft import Draft
    from ultracluster.clusterfile.rules._file import check

    values: dict[Any, Any] = {}
    cluster, problems = None, []
    try:
        cluster = ClusterFile.model_validate(data, context=values, by_alias=True, by_name=False)
    except ValidationError as error:
        problems = _translate.problems(error.errors(include_url=False))
    draft, known = Draft.of(data, values), {rule.id: rule for rule in rules()}
    errors: list[Problem] = []
    accepted: list[Problem] = []
    problems += [*check_references(data), *check(draft)]
    _check_above(draft, problems)
    for problem in problems:
        both = problem.rule in draft.accept and known[problem.rule].acceptable
        (accepted if both else errors).append(problem)
    if cluster is not None:
        cluster.take_accepted(accepted)
    return cluster, errors


def _check_above(draft: Draft, problems: list[Problem]) -> None:
    """Append the errors that packages above see."""
    from ultracluster.clusterfile._draft import valid

    draft.drop_nodes_if_wrong()
    wrong = {problem.path for problem in problems}
    for file_check in valid(lambda: file_checks(draft)) or ():
        # A file with other errors may have values that a check does not expect.
        with suppress(Exception if problems else Invalid):
            for problem in file_check(draft):
                if problem.path not in wrong:
                    problems.append(problem)


def _without_empty(value: Any, path: Path = ()) -> tuple[Any, list[Path]]:
    """Return the value without empty keys, and where those were: `lustre:` alone would be no file system."""
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


def _at(node: _yaml_tree.Node, field: str, message: str) -> Located:
    return Located(line=node.line, column=node.column, field=field, message=message, rule=FILE.id, file=node.file)


def _refusal(name: str, message: str) -> ClusterFileError:
    return ClusterFileError(name, [Located(line=1, column=1, field="", message=message, rule=FILE.id)])
