"""Published facts as records: value, unit, source and date. Pure Python."""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

#: Day on which the facts of a topic were read; the oldest of them. A test compares it with the dates beside the facts.
AS_OF: Mapping[str, date] = MappingProxyType(
    {
        "ec2": date(2026, 11, 20),
        "lustre": date(2026, 10, 9),
        "openzfs": date(2026, 11, 21),
        "pcs": date(2026, 11, 20),
        "eks": date(2026, 11, 20),
        "monitoring": date(2026, 11, 20),
    }
)

__all__ = ["AS_OF"]
