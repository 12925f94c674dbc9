"""Edited copies of a cluster file, which the steps of a rehearsal deploy."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ultracluster import clusterfile


def keys_of(file: Path) -> dict[str, Any]:
    """Return the keys of a cluster file that is valid, and of the base that it extends, to be edited.

    Paths of other files are absolute, so that the copy can be in another directory.
    """
    keys = _keys(file)
    base = keys.pop("extends", None)
    if base is not None:
        below = file.parent / base
        keys = clusterfile.merged(_keys(below), keys)
    clusterfile.resolve_files(keys, str(file.resolve()))
    return keys


def text_of(keys: Mapping[str, Any]) -> str:
    """Return the text of a cluster file with these keys."""
    buffer, yaml = io.StringIO(), YAML()
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # it has the type None
    yaml.dump(keys, buffer)
    return buffer.getvalue()


def _keys(file: Path) -> dict[str, Any]:
    keys: dict[str, Any] = YAML().load(file.read_text(encoding="utf-8-sig"))
    return keys
