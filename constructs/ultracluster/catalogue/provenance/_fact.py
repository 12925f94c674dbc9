"""Facts: a constant of the catalogue is annotated with its source, and with its unit or what its columns are.

_LIMITS = Source("https://docs.aws.amazon.com/efs/latest/ug/limits.html", read_on="2026-11-21")
CONNECTIONS: Annotated[int, Stated(_LIMITS, "connections")] = 25_000
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

#: Note on the facts of a source without a date; the documentation of AWS has none.
NO_DATE = "the source carries no date"


class Source(NamedTuple):
    """Source of facts.

    Args:
        name: Address, or name.
        read_on: Day on which it was read.
        as_of: Day on which it stated the facts, or None if it carries no date.
        verify: Command that verifies the facts. By default, the source is opened and read.
    """

    name: str
    read_on: str
    as_of: str | None = None
    verify: str | None = None


class Stated(NamedTuple):
    """Annotation of a constant of the catalogue.

    Args:
        source: Its source.
        unit: Unit of its numbers.
        columns: What a text holds, or a table, column by column.
    """

    source: Source
    unit: str | None = None
    columns: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A published fact.

    Args:
        name: Topic and name, such as `schedulers.pcs.SIZES`.
        value: The value, as JSON has it.
        unit: Unit of its numbers, or None for texts and tables.
        columns: What a text holds, or a table, column by column; None for quantities.
        source: Address or name of the source.
        read_on: Day on which the source was read.
        as_of: Day on which the source stated it, or None.
        as_of_note: Why as_of is None, or None.
        ends: Last day of what it describes, or None.
        verify: How to verify it.
    """

    name: str
    value: Any
    unit: str | None
    columns: str | None
    source: str
    read_on: date
    as_of: date | None
    as_of_note: str | None
    ends: date | None
    verify: str
