"""Templates from files and directories."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdk_rehearsal.guard._template import GuardError, Template
from cdk_rehearsal.registry import NESTED_STACK, UnreadableError, nested_template, read

#: A template as data, a file, or a directory of templates.
Source = Mapping[str, Any] | str | Path

_SYNTHESISED = ".template.json"
_PLAIN = (".json", ".yaml", ".yml", ".template")
# What the CDK writes into every assembly.
_BESIDE = ("manifest.json", "tree.json", "validation-report.json", "policy-validation-report.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stacks:
    """The templates of one side.

    Args:
        templates: By name: the file's, without its extension; "" for a single template.
        names: Names that the manifests of cloud assemblies give the stacks -> names here.
        skipped: Files that are no templates.
        many: Whether they come from a directory.
        nested: Stack and logical id of nested stacks -> names of their templates here.
    """

    templates: dict[str, Template]
    names: dict[str, str]
    skipped: tuple[str, ...]
    many: bool
    nested: Mapping[tuple[str, str], str] = field(default_factory=dict)


def load(source: Source) -> Stacks:
    """Load one side of a comparison, or raise GuardError with the file that cannot be read."""
    if isinstance(source, Mapping):
        return Stacks(templates={"": Template.of(source)}, names={}, skipped=(), many=False)
    path = Path(source)
    if path.is_dir():
        return _directory(path)
    return Stacks(templates={"": _template(path, _read(path))}, names={}, skipped=(), many=False)


def _directory(folder: Path) -> Stacks:
    synthesised = [*folder.glob(f"*{_SYNTHESISED}"), *folder.glob(f"assembly-*/**/*{_SYNTHESISED}")]
    templates, skipped = {}, []
    plain = [
        file
        for suffix in _PLAIN
        for file in folder.rglob(f"*{suffix}")
        if file not in synthesised and not (synthesised and _is_of_an_assembly(folder, file))
    ]
    for file in sorted([*synthesised, *plain]):
        body = _read(file)
        name = file.relative_to(folder).as_posix()
        if file in plain and not (isinstance(body, Mapping) and "Resources" in body):
            skipped.append(name)
            continue
        # Two files of one name, such as a.json and a.yaml, are two templates.
        stem = _stem(name)
        templates[name if stem in templates else stem] = _template(file, body)
    if not templates:
        raise GuardError(f"{folder}: there is no template in this directory, none of {', '.join(_PLAIN)}")
    return Stacks(
        templates=templates,
        names=_names(folder, templates),
        skipped=tuple(skipped),
        many=True,
        nested=_nested(folder, templates),
    )


def _is_of_an_assembly(folder: Path, file: Path) -> bool:
    """True if the CDK wrote it beside the templates, or below an asset."""
    parts = file.relative_to(folder).parts
    is_manifest = file.name in _BESIDE or file.name.endswith((".assets.json", ".metadata.json"))
    return is_manifest or parts[0].startswith("asset.")


def _stem(name: str) -> str:
    for suffix in _PLAIN:
        name = name.removesuffix(suffix)
    return name


def _names(folder: Path, templates: Mapping[str, Template]) -> dict[str, str]:
    """Names of the stacks in their accounts, as far as the manifests give them."""
    names: dict[str, list[str]] = {}
    for manifest in (folder / "manifest.json", *folder.glob("assembly-*/**/manifest.json")):
        body = _read(manifest) if manifest.is_file() else None
        artifacts = body.get("artifacts") if isinstance(body, Mapping) else None
        for artifact in artifacts.values() if isinstance(artifacts, Mapping) else ():
            properties = artifact.get("properties") if isinstance(artifact, Mapping) else None
            file, name = (
                (properties.get(key) for key in ("templateFile", "stackName"))
                if isinstance(properties, Mapping)
                else (None, None)
            )
            if isinstance(file, str) and isinstance(name, str):
                key = (manifest.parent / file).relative_to(folder).as_posix().removesuffix(_SYNTHESISED)
                names.setdefault(name, []).append(key)
    # A name in two regions is ambiguous.
    return {name: keys[0] for name, keys in names.items() if len(keys) == 1 and keys[0] in templates}


def _nested(folder: Path, templates: Mapping[str, Template]) -> dict[tuple[str, str], str]:
    """Templates of nested stacks, as far as a cloud assembly shows them.

    Two nested stacks of one content share an asset, whose file may be that of either: both are left out, unless their
    metadata names the files.
    """
    links = {
        (stack, logical_id): file.relative_to(folder).as_posix().removesuffix(_SYNTHESISED)
        for stack, template in templates.items()
        for logical_id, resource in template.resources.items()
        if resource["Type"] == NESTED_STACK
        and (file := nested_template(resource, (folder / stack).parent))
        and file.is_relative_to(folder)
    }
    names = list(links.values())
    outer = {name: stack for (stack, _), name in links.items()}
    return {
        place: name
        for place, name in links.items()
        if name in templates and names.count(name) == 1 and not _in_itself(name, outer)
    }


def _in_itself(name: str, outer: Mapping[str, str]) -> bool:
    """Return whether files that no CDK wrote nest a stack in itself."""
    stacks = [name]
    while stacks[-1] in outer:
        if outer[stacks[-1]] in stacks:
            return True
        stacks.append(outer[stacks[-1]])
    return False


def _read(file: Path) -> Any:
    try:
        return read(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise GuardError(f"{file}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError as error:
        raise GuardError(f"{file}: it is no text in UTF-8 ({error.reason} at byte {error.start})") from None
    except UnreadableError as error:
        raise GuardError(f"{file}: {error}") from None


def _template(file: Path, body: Any) -> Template:
    try:
        return Template.of(body)
    except GuardError as error:
        raise GuardError(f"{file}: {error}") from None
