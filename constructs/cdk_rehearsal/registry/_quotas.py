"""Quotas of CloudFormation on a template.

See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html (read 2026-11-22)
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

#: Section -> most entries.
_MOST: Mapping[str, int] = MappingProxyType({"Resources": 500, "Parameters": 200, "Outputs": 200, "Mappings": 200})
_MOST_BYTES = 1_000_000
_LONGEST_NAME = 255
_LONGEST_DESCRIPTION = 1024
_LONGEST_VALUE = 4096


def quota_problems(body: Mapping[str, Any], text: str) -> Iterator[str]:
    """Yield how a template, with this text, exceeds the quotas."""
    if (size := len(text.encode())) > _MOST_BYTES:
        yield f"Template may not exceed {_MOST_BYTES} bytes in size, has {size}."
    for section, most in _MOST.items():
        entries = body.get(section)
        if not isinstance(entries, Mapping):
            continue
        if len(entries) > most:
            number = f"Number of {section.lower()}, {len(entries)}"
            yield f"Template format error: {number}, is greater than maximum allowed, {most}"
        for name in entries:
            if len(name) > _LONGEST_NAME:
                yield f"Template format error: a name in {section} has {len(name)} characters, {_LONGEST_NAME} at most"
    description = body.get("Description")
    if isinstance(description, str) and len(description.encode()) > _LONGEST_DESCRIPTION:
        yield f"Template format error: 'Description' length is greater than {_LONGEST_DESCRIPTION}."
    parameters = body.get("Parameters")
    for name, definition in (parameters if isinstance(parameters, Mapping) else {}).items():
        default = definition.get("Default") if isinstance(definition, Mapping) else None
        if isinstance(default, str) and len(default.encode()) > _LONGEST_VALUE:
            yield f"Template format error: Parameter {name} is longer than {_LONGEST_VALUE} bytes"
