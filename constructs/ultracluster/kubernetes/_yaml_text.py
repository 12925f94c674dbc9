"""YAML with the same meaning in version 1.1, for kubectl and Helm, and in 1.2."""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

# What version 1.1 takes for no string unless it is quoted: `on`, `y`, `1:30`, `2026-11-21`.
_NO_PLAIN_STRING = re.compile(r"y|n|yes|no|on|off|true|false|null|~|[-+.]?[\d.].*|<<|=", re.IGNORECASE)
_ASCII = re.compile(r"[ -~]*", re.ASCII)
# What a block of lines shows as it is.
_LINES = re.compile(r"[!-~]([ -~]|\n)*", re.ASCII)


def to_yaml(documents: Sequence[Any]) -> str:
    """Return documents as YAML with the same meaning in versions 1.1 and 1.2; keys are sorted."""
    yaml = YAML()
    yaml.width = 10_000
    yaml.allow_unicode = False
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump_all([_plain(document) for document in documents], out)
    return out.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_plain(key): _plain(inner) for key, inner in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and "\n" in value:
        return LiteralScalarString(value) if _LINES.fullmatch(value) else DoubleQuotedScalarString(value)
    if isinstance(value, str) and (_NO_PLAIN_STRING.fullmatch(value) or not _ASCII.fullmatch(value)):
        return DoubleQuotedScalarString(value)
    return value
