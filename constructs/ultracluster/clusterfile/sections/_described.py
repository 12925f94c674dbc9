"""Instance types from a file with EC2's own description of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultracluster.catalogue.ec2 import InstanceType, instance_type_from_api

# DescribeInstanceTypes of all types of a Region is some 5 MB.
_MOST_BYTES = 32 * 2**20
_NAMES = 8


def described_type(file: str, name: str) -> InstanceType:
    """Return the record of a type from a file with the output of `aws ec2 describe-instance-types`.

    Args:
        file: Path of the file.
        name: Name of the type, such as `p6e-gb300.36xlarge`.

    Raises:
        ValueError: If the file cannot be read, is not such output, or does not describe the type.
    """
    command = f"aws ec2 describe-instance-types --instance-types {name} > {Path(file).name}"
    try:
        with Path(file).open("rb") as source:
            raw = source.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot read {file}: {reason}; write it: {command}") from None
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{file} is larger than 32 MiB; write the type alone: {command}")
    try:
        items = _items(json.loads(raw))
    except (ValueError, RecursionError):
        raise ValueError(f"{file} is not the JSON of DescribeInstanceTypes; write it: {command}") from None
    item = next((item for item in items if item.get("InstanceType") == name), None)
    if item is None:
        names = [str(item.get("InstanceType")) for item in items]
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        raise ValueError(f"{file} describes {', '.join(names[:_NAMES])}{more}, not {name}; write it: {command}")
    return instance_type_from_api(item)


def _items(content: Any) -> list[Mapping[str, Any]]:
    """Return the types of an answer, of a list of types, or of one type."""
    items = content.get("InstanceTypes", [content]) if isinstance(content, Mapping) else content
    if not isinstance(items, list) or not items or not all(isinstance(item, Mapping) for item in items):
        raise ValueError
    return items
