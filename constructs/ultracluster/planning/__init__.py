"""Arithmetic on the facts of the catalogue. Pure Python."""

from importlib import import_module
from types import ModuleType

from ultracluster.planning._types import check_fields, check_types, shown, type_errors

__all__ = ["check_fields", "check_types", "shown", "type_errors"]
_PACKAGES = ("capacity", "home", "lustre", "network", "s3", "slurm", "workload")


def __getattr__(name: str) -> ModuleType:
    """Import a package of this one when it is first used: `import ultracluster.planning` stays fast."""
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
