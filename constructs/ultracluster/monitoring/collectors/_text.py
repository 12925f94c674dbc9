"""YAML output without a YAML library."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ultracluster.rules import Message, error

_LABEL = error("metrics-name", "Names of clusters and node groups are labels of their metrics.")
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
    text = RenderedYaml("\n".join(_lines(value)) + "\n")
    text.document = value
    return text


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, item in value.items() for line in _entry(f"{_scalar(key)}:", item)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [line for item in value for line in _item(item)]
    return [_scalar(value)]


def _entry(head: str, item: Any) -> list[str]:
    if isinstance(item, Mapping | Sequence) and not isinstance(item, str) and item:
        return [head, *(f"  {line}" for line in _lines(item))]
    return [f"{head} {_scalar(item)}"]


def _item(item: Any) -> list[str]:
    first, *rest = _lines(item)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _scalar(value: Any) -> str:
    plain = isinstance(value, str) and value.replace("_", "").isalnum() and value[0].isalpha()
    if plain and value.lower() not in {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}:
        return str(value)
    return json.dumps(value, ensure_ascii=False)
