"""Generate the reference of the cluster file from its JSON schema."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from docs_reference.markdown import page, table
from ultracluster import clusterfile

_ABOUT = """Every key of the [cluster file](../guides/cluster-file.md), from the JSON schema that `ultracluster schema`
prints. Required keys have no default. Keys of a section with *NAME* apply to each entry. A regular expression is the
form of a text or of a name; the types of `constructs/ultracluster/clusterfile/sections` have the other limits."""

#: Longer lists are cut; `ultracluster schema` and `ultracluster types` have them.
_MOST_CHOICES = 8
#: Longer expressions are no help; `ultracluster schema` has them.
_LONGEST_PATTERN = 60

Schema = Mapping[str, Any]


def cluster_file_page() -> str:
    """Page with a table for each section."""
    schema = clusterfile.schema()
    sections = [
        f"{_heading(path)}\n\n{_names(names)}{_section(one, path, schema)}"
        for path, one, names in _sections(schema, (), schema)
    ]
    return page("Cluster file", _ABOUT, *sections)


def _heading(path: tuple[str, ...]) -> str:
    return f"## `{'.'.join(path)}`" if path else "## Top level"


def _section(section: Schema, path: tuple[str, ...], root: Schema) -> str:
    rows = []
    for key, value in section["properties"].items():
        resolved = _resolved(value, root)
        nested = _nested(resolved, root)
        name = f"`{key}`"
        if nested is not None:
            name = f"[`{key}`](#{_anchor((*path, key, *(('NAME',) if nested[0] else ())))})"
        about = str(value.get("description") or resolved.get("description") or "").replace("\n", " ")
        example = value.get("examples") or resolved.get("examples") or []
        rows.append(
            (name, about, _kind(resolved, root), _default(key, value, section), ", ".join(map(_shown, example)))
        )
    description = str(section.get("description", "")) if path else ""
    return (
        f"{description}\n\n" * bool(description) + f"{table(('key', 'meaning', 'type', 'default', 'examples'), rows)}"
    )


def _anchor(path: tuple[str, ...]) -> str:
    return "".join(path).lower()


def _names(names: Schema) -> str:
    """Line with the form of the names of a section."""
    pattern = _pattern(names)
    examples = ", such as " + ", ".join(map(_shown, names["examples"])) if "examples" in names else ""
    refused = ", but not " + ", ".join(map(_shown, names["not"]["enum"])) if "not" in names else ""
    return f"*NAME*: {pattern}{examples}{refused}.\n\n" if pattern else ""


def _sections(
    section: Schema, path: tuple[str, ...], root: Schema, names: Schema = MappingProxyType({})
) -> Iterator[tuple[tuple[str, ...], Schema, Schema]]:
    yield path, section, names
    for key, value in section["properties"].items():
        resolved = _resolved(value, root)
        nested = _nested(resolved, root)
        if nested is not None:
            many, inner = nested
            inside = (*path, key, *(("NAME",) if many else ()))
            yield from _sections(inner, inside, root, resolved.get("propertyNames", {}))


def _resolved(value: Schema, root: Schema) -> Schema:
    while "$ref" in value:
        value = root["$defs"][value["$ref"].rpartition("/")[2]]
    return value


def _nested(value: Schema, root: Schema) -> tuple[bool, Schema] | None:
    """Section inside a value, and whether the value holds many of them by name."""
    for choice in (value, *value.get("anyOf", ()), *value.get("oneOf", ())):
        resolved = _resolved(choice, root)
        if "properties" in resolved:
            return False, resolved
        for inner in (
            resolved.get("additionalProperties"),
            resolved.get("items"),
            *resolved.get("patternProperties", {}).values(),
        ):
            options = (inner, *inner.get("anyOf", ())) if isinstance(inner, Mapping) else ()
            for option in options:
                if "properties" in _resolved(option, root):
                    return True, _resolved(option, root)
    return None


def _kind(value: Schema, root: Schema) -> str:
    if "enum" in value:
        choices = [_shown(choice) for choice in value["enum"]]
        return ", ".join(choices if len(choices) <= _MOST_CHOICES else [*choices[:_MOST_CHOICES], "..."])
    if "const" in value:
        return _shown(value["const"])
    alternatives = [*value.get("anyOf", ()), *value.get("oneOf", ())]
    if alternatives:
        return " or ".join(dict.fromkeys(_kind(_resolved(one, root), root) for one in alternatives))
    if value.get("type") == "array":
        return f"list of {_kind(_resolved(value.get('items', {}), root), root)}"
    types = value.get("type", "any")
    kind = " or ".join(types if isinstance(types, list) else [types]).replace("object", "mapping")
    kind = f"{kind} {_pattern(value)}" if _pattern(value) else kind
    least, most = value.get("minimum"), value.get("maximum")
    if least is not None and most is not None:
        return f"{kind}, {least} to {most}"
    return f"{kind}, at least {least}" if least is not None else kind


def _pattern(value: Schema) -> str:
    """Regular expression of a text, without the anchors; empty for one that is long, or that allows any text."""
    pattern = re.sub(r"^\^(?:\(\?:(.*)\)|(.*))\$$", lambda match: match[1] or match[2], value.get("pattern", ""))
    return "" if pattern in ("", ".+") or len(pattern) > _LONGEST_PATTERN or "(?=[0-9.]" in pattern else f"`{pattern}`"


def _default(key: str, value: Schema, section: Schema) -> str:
    if key in section.get("required", ()):
        return "**required**"
    if key in section.get("else", {}).get("required", ()):
        return "**required** without `extends`"
    default = value.get("default")
    return "" if default in (None, {}, []) else _shown(default)


def _shown(value: object) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
