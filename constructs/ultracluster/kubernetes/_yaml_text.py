"""YAML with the same meaning in version 1.1, for kubectl and Helm, and in 1.2."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

# What version 1.1 takes for no string unless it is quoted: `on`, `y`, `1:30`, `2026-11-21`.
_NO_PLAIN_STRING = re.compile(r"y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d.].*|<<|=", re.IGNORECASE)
_ASCII = re.compile(r"[ -~]*", re.ASCII)
# What a block of lines shows as it is.
_LINES = re.compile(r"[!-~]([ -~]|\n)*", re.ASCII)
# Strings without a character that means something in YAML.
_WORD = re.compile(r"[A-Za-z/_][\w./-]*", re.ASCII)


def to_yaml(documents: Sequence[Any]) -> str:
    """Return documents as YAML with the same meaning in versions 1.1 and 1.2; keys are sorted.

    The layout is written here: for the objects of a platform, the emitter of ruamel takes ten times as long.
    """
    return "---\n".join("".join(f"{line}\n" for line in _document(document)) for document in documents)


def _document(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        return _mapping(value, "")
    if isinstance(value, (list, tuple)) and value:
        return _sequence(value, "  ")
    return iter([_inline(value)])


def _mapping(value: Mapping[Any, Any], indent: str) -> Iterator[str]:
    for key, inner in sorted(value.items()):
        start = f"{indent}{_inline(key)}:"
        if isinstance(inner, Mapping) and inner:
            yield start
            yield from _mapping(inner, f"{indent}  ")
        elif isinstance(inner, (list, tuple)) and inner:
            yield start
            yield from _sequence(inner, f"{indent}  ")
        else:
            yield from _leaf(start, inner, f"{indent}  ")


def _sequence(value: Sequence[Any], indent: str) -> Iterator[str]:
    inside = f"{indent}  "
    for item in value:
        if isinstance(item, Mapping) and item:
            lines = _mapping(item, inside)
        elif isinstance(item, (list, tuple)) and item:
            lines = _sequence(item, f"{inside}  ")
        else:
            yield from _leaf(f"{indent}-", item, inside)
            continue
        yield f"{indent}- {next(lines)[len(inside) :]}"
        yield from lines


def _leaf(start: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value and _LINES.fullmatch(value):
        text = value.rstrip("\n")
        chomp = {0: "-", 1: ""}.get(len(value) - len(text), "+")
        yield f"{start} |{chomp}"
        for line in value.removesuffix("\n").split("\n"):
            yield f"{indent}{line}" if line else ""
    else:
        yield f"{start} {_inline(value)}".rstrip(" ")


def _inline(value: Any) -> str:
    """A scalar, or an empty collection."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    if isinstance(value, str) and _WORD.fullmatch(value) and not _NO_PLAIN_STRING.fullmatch(value):
        return value
    return _quoted(value)


@cache
def _quoted(value: str | float) -> str:
    yaml = YAML()
    yaml.width = 10_000
    yaml.allow_unicode = False
    if isinstance(value, str) and (_NO_PLAIN_STRING.fullmatch(value) or not _ASCII.fullmatch(value)):
        value = DoubleQuotedScalarString(value)
    out = StringIO()
    yaml.dump({"k": value}, out)
    return out.getvalue().removeprefix("k: ").rstrip("\n")
