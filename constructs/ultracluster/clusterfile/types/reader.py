"""What makes a pydantic type of a reader."""

import re
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

from pydantic_core import core_schema

from ultracluster.clusterfile import quantities as q
from ultracluster.clusterfile.readers import values as readers


class Reader:
    """Makes a pydantic type of a reader.

    Args:
        read: Takes what YAML gave; raises ValueError.
        write: Gives back what YAML would say. Default: `write`.
        **schema: JSON schema of what it takes.
    """

    def __init__(self, read: Callable[[Any], Any], write: Callable[[Any], Any] | None = None, **schema: Any) -> None:
        self._read = read
        self._write = write
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """How pydantic reads and writes it."""
        written = core_schema.plain_serializer_function_ser_schema(self._write or write)
        return core_schema.no_info_plain_validator_function(self._read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """What an editor completes from."""
        return dict(self._schema)


def write(value: Any) -> Any:
    """A value as the file would say it."""
    if isinstance(value, q.Quantity | IPv4Network):
        return str(value)
    return list(value) if isinstance(value, tuple) else getattr(value, "word", value)


def quantity(kind: type[q.Quantity]) -> Reader:
    """The type of a quantity with its unit."""
    return Reader(kind.parse, type="string", pattern=kind.pattern(), examples=[kind.example])


def text_of(read: Callable[[Any], Any], pattern: re.Pattern[str] | str, *examples: str) -> Reader:
    """The type of a text that a pattern describes."""
    found = pattern if isinstance(pattern, str) else f"^(?:{re.sub(r'[?]P<[a-z]+>', '', pattern.pattern)})$"
    return Reader(read, type="string", pattern=found, examples=list(examples))


def ec2_id(prefix: str, what: str) -> Reader:
    """The type of an id of EC2, such as `subnet-...`."""
    return text_of(
        readers.ec2_id(prefix, what), rf"^{prefix}-[0-9a-f]{{8}}([0-9a-f]{{9}})?$", f"{prefix}-0123456789abcdef0"
    )
