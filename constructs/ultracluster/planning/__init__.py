"""Arithmetic on the facts of the catalogue. Pure Python."""

from importlib import import_module
from types import ModuleType

from ultracluster.planning._once import once
from ultracluster.planning._perimeter import ORGANISATION, perimeter_condition, perimeter_problems
from ultracluster.planning._plan import Figure, Kind, Plan
from ultracluster.planning._regions import OTHER_REGION, region_of, security_groups, zone_problems
from ultracluster.planning._texts import (
    NFS_EXPORT,
    NFS_SERVER,
    arn_problem,
    email_problem,
    id_problem,
    known,
    text_problem,
)
from ultracluster.planning._types import (
    as_list,
    check_fields,
    check_types,
    checked,
    checked_except,
    shown,
    token_errors,
    type_errors,
)

__all__ = [
    "NFS_EXPORT",
    "NFS_SERVER",
    "ORGANISATION",
    "OTHER_REGION",
    "Figure",
    "Kind",
    "Plan",
    "arn_problem",
    "as_list",
    "check_fields",
    "check_types",
    "checked",
    "checked_except",
    "email_problem",
    "id_problem",
    "known",
    "once",
    "perimeter_condition",
    "perimeter_problems",
    "region_of",
    "security_groups",
    "shown",
    "text_problem",
    "token_errors",
    "type_errors",
    "zone_problems",
]
_PACKAGES = ("capacity", "home", "lustre", "network", "s3", "slurm", "workload")


def __getattr__(name: str) -> ModuleType:
    """Import a package of this one when it is first used: `import ultracluster.planning` stays fast."""
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
