"""Writes YAML and so needs nothing to read it with."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def name_problems(*names: str) -> list[str]:
    """What is wrong with names of clusters and node groups, which become labels."""
    return [
        f"{name!r} is no name of a cluster or node group: letters, digits, dots, hyphens, at most 100"
        for name in sorted(set(names))
        if not _NAME.fullmatch(name)
    ]


def block_yaml(value: Any) -> str:
    """A document of mappings, lists and plain values; text is quoted as JSON quotes it, which YAML reads alike."""
    return "\n".join(_lines(value)) + "\n"


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
