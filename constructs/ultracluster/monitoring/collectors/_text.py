"""YAML output without a YAML library."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ultracluster.rules import Message, error

_LABEL = error("metrics-name", "Names of clusters and node groups are labels of their metrics.")
_encode = json.JSONEncoder(ensure_ascii=False).encode
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def name_problems(*names: str) -> list[Message]:
    """Return the errors of cluster and node group names, which become labels."""
    return [
        _LABEL(f"{name!r} is not a valid name of a cluster or node group: letters, digits, dots, hyphens, at most 100")
        for name in sorted(set(names))
        if not _NAME.fullmatch(name)
    ]


class RenderedYaml(str):
    """Text of a YAML document, with the document: the pure Python parser takes 70 ms for the rules of a cluster."""

    document: Any


def block_yaml(value: Any) -> RenderedYaml:
    """Return a YAML document of mappings, lists and plain values; strings are quoted as in JSON."""
    lines: list[str] = []
    _add(lines, value, "", "")
    text = RenderedYaml("\n".join(lines) + "\n")
    text.document = value
    return text


def _add(lines: list[str], value: Any, head: str, margin: str) -> None:
    """Add the lines of a value, the first after `head`, the others after `margin`."""
    if isinstance(value, str) or not value or not isinstance(value, Mapping | Sequence):
        lines.append(f"{head}{scalar(value)}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            name, head = f"{head}{scalar(key)}:", margin
            if isinstance(item, str) or not item or not isinstance(item, Mapping | Sequence):
                lines.append(f"{name} {scalar(item)}")
            else:
                lines.append(name)
                _add(lines, item, f"{margin}  ", f"{margin}  ")
    else:
        for item in value:
            _add(lines, item, f"{head}- ", f"{margin}  ")
            head = margin


def scalar(value: Any) -> str:
    """Return a plain value as it is in YAML; strings are quoted as in JSON, except for words."""
    plain = isinstance(value, str) and value.replace("_", "").isalnum() and value[0].isalpha()
    if plain and value.lower() not in {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}:
        return str(value)
    return _encode(value)
