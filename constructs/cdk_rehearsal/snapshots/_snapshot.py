"""Assertions that compare templates with snapshots."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from cdk_rehearsal.snapshots import _session as session
from cdk_rehearsal.snapshots._changes import changes
from cdk_rehearsal.snapshots._normalise import normalise
from cdk_rehearsal.snapshots._report import describe
from cdk_rehearsal.snapshots._subject import paths_of, template_of

if TYPE_CHECKING:
    import aws_cdk as cdk

    from cdk_rehearsal.registry import UpdateRules
    from cdk_rehearsal.snapshots._subject import Subject

_INTENDED = f"If the change is intended: pytest {session.UPDATE}, and review the difference before you commit it."


def assert_matches_snapshot(subject: "Subject", path: str | Path, *, update_rules: "UpdateRules | None" = None) -> None:
    """Compare a stack, or a template, with the snapshot in a file.

    `pytest --update-snapshots` writes the file.

    Args:
        subject: A stack, or its template.
        path: The snapshot, a JSON file, such as `Path(__file__).parent / "snapshots" / "network.json"`.
        update_rules: Resource type -> rules for updates that its service rejects; see `guard.compare`.

    Raises:
        AssertionError: If the template differs, with the difference, or if the file is missing.
    """
    __tracebackhide__ = True
    file = Path(path).resolve()
    if problem := _compare({file: template_of(subject)}, {file: paths_of(subject)}, path, update_rules):
        raise AssertionError(problem)


def assert_app_matches_snapshot(
    app: "cdk.App | cdk.Stage", directory: str | Path, *, update_rules: "UpdateRules | None" = None
) -> None:
    """Compare each stack of an app, nested ones and those of its stages included, with the snapshots of a directory.

    `pytest --update-snapshots` writes one file for each stack, and deletes those of stacks that are gone. A run of all
    tests reports the directories beside it whose app is gone.

    Args:
        app: The app, or a stage. It is synthesized.
        directory: Directory of the snapshots of this app alone.
        update_rules: Resource type -> rules for updates that its service rejects; see `guard.compare`.

    Raises:
        AssertionError: If a stack differs, with the difference, or if a snapshot is missing or has no stack.
    """
    __tracebackhide__ = True
    folder = Path(directory).resolve()
    templates, paths, nested = _stacks(app, folder)
    session.current.apps.add(folder)
    stale = session.unused(folder, templates)
    if session.current.update:
        for file in stale:
            file.unlink()
        stale = []
    problems = [
        f"the app has no stack for the snapshot {file.name}; delete it: pytest {session.UPDATE}" for file in stale
    ]
    if problem := _compare(templates, paths, directory, update_rules, nested):
        problems.append(problem)
    if problems:
        raise AssertionError("\n".join(problems))


def write_app_snapshots(app: "cdk.App | cdk.Stage", directory: str | Path) -> None:
    """Write the snapshots that `assert_app_matches_snapshot` compares with.

    Args:
        app: The app, or a stage. It is synthesized.
        directory: Directory of the snapshots of this app alone.
    """
    templates, *_ = _stacks(app, Path(directory).resolve())
    _write({file: normalise(template) for file, template in templates.items()})


def _stacks(
    app: Any, folder: Path
) -> tuple[dict[Path, dict[str, Any]], dict[Path, dict[str, str]], dict[tuple[str, str], str]]:
    """Return templates and construct paths by file, and the snapshot of each nested stack by its resource."""
    import aws_cdk as cdk

    templates: dict[Path, dict[str, Any]] = {}
    paths: dict[Path, dict[str, str]] = {}
    links: dict[tuple[str, str], str] = {}
    constructs: dict[str, Any] = {}
    nested: dict[str, list[Any]] = {}
    for child in (cast(cdk.Stack, child) for child in app.node.find_all() if cdk.Stack.is_stack(child)):
        if child.nested_stack_parent is None:
            constructs[child.artifact_id] = child
        else:
            nested.setdefault(child.nested_stack_parent.node.path, []).append(child)
    for artifact in app.synth().stacks_recursively:
        waiting = [(artifact.hierarchical_id, dict(artifact.template), constructs.get(artifact.id))]
        for name, template, stack in waiting:  # grows by the nested stacks
            file = folder / f"{name.replace('/', '-')}.json"
            if file in templates:
                raise ValueError(f"two stacks have the snapshot {file.name}: rename {name}")
            templates[file] = template
            paths[file] = paths_of(stack) if stack else {}
            for inner in nested.get(stack.node.path, ()) if stack is not None else ():
                assert stack is not None
                below = f"{name}{inner.node.path.removeprefix(stack.node.path)}"
                body = (Path(artifact.assembly.directory) / inner.template_file).read_text(encoding="utf-8")
                waiting.append((below, json.loads(body), inner))
                resource = str(stack.resolve(inner.nested_stack_resource.logical_id))
                links[file.stem, resource] = below.replace("/", "-")
    return templates, paths, links


def _compare(
    templates: Mapping[Path, dict[str, Any]],
    paths: Mapping[Path, Mapping[str, str]],
    place: str | Path,
    update_rules: "UpdateRules | None",
    nested: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> str:
    """Return the problem, or an empty string."""
    session.current.used.update(templates)
    bodies = {file: normalise(template) for file, template in templates.items()}
    if session.current.update:
        _write(bodies)
        return ""
    missing = [file for file in bodies if not file.exists()]
    if missing:
        names = ", ".join(str(file) for file in missing)
        return f"there is no snapshot {names} yet; write it with: pytest {session.UPDATE}"
    texts = {file: file.read_text(encoding="utf-8") for file in bodies}
    if all(texts[file] == session.serialise(body) for file, body in bodies.items()):
        return ""
    known = {file: json.loads(text) for file, text in texts.items()}
    name = {file: "" if len(bodies) == 1 else file.stem for file in bodies}
    result = changes(
        {name[file]: body for file, body in known.items()},
        {name[file]: body for file, body in bodies.items()},
        paths={name[file]: ids for file, ids in paths.items()},
        update_rules=update_rules,
        nested=nested,
    )
    lines = describe(result) or ["  the file is not as pytest writes it, but has the same content"]
    return "\n".join([f"the template differs from {place}", *lines, _INTENDED])


def _write(bodies: Mapping[Path, Mapping[str, Any]]) -> None:
    for file, body in bodies.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(session.serialise(body), encoding="utf-8")
