"""Published facts as records: value, unit, source and date. Pure Python."""

from collections.abc import Mapping
from datetime import date
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracluster.catalogue.provenance import Fact

#: Day on which the facts of a topic were read; the oldest of them. A test compares it with the dates beside the facts.
AS_OF: Mapping[str, date] = MappingProxyType(
    {
        "ec2": date(2026, 11, 20),
        "lustre": date(2026, 10, 9),
        "openzfs": date(2026, 11, 21),
        "pcs": date(2026, 11, 20),
        "eks": date(2026, 11, 20),
        "hyperpod": date(2026, 11, 23),
        "monitoring": date(2026, 11, 20),
        "training": date(2026, 11, 22),
    }
)

__all__ = ["AS_OF", "facts"]
_PACKAGES = ("ec2", "monitoring", "provenance", "schedulers", "storage", "training")


def facts() -> "tuple[Fact, ...]":
    """Return all facts, sorted by name: value, unit, source, dates, and how to verify each."""
    # Here and not at the top: it imports every package of the catalogue.
    from ultracluster.catalogue._registry import all_facts

    return all_facts()


if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.

    def __getattr__(name: str) -> ModuleType:
        """Import a package of this one when it is first used: `import ultracluster.catalogue` stays fast."""
        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
