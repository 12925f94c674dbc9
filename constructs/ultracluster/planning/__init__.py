"""Arithmetic on the facts of the catalogue. Pure Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ultracluster.planning._methods import checked_method as checked_method
from ultracluster.planning._once import once as once
from ultracluster.planning._perimeter import ORGANIZATION as ORGANIZATION
from ultracluster.planning._perimeter import perimeter_condition as perimeter_condition
from ultracluster.planning._perimeter import perimeter_problems as perimeter_problems
from ultracluster.planning._regions import OTHER_ACCOUNT as OTHER_ACCOUNT
from ultracluster.planning._regions import OTHER_REGION as OTHER_REGION
from ultracluster.planning._regions import account_of as account_of
from ultracluster.planning._regions import region_of as region_of
from ultracluster.planning._regions import security_group_id as security_group_id
from ultracluster.planning._regions import security_groups as security_groups
from ultracluster.planning._regions import zone_problems as zone_problems
from ultracluster.planning._scopes import path_of as path_of
from ultracluster.planning._scopes import remember as remember
from ultracluster.planning._scopes import stack_of as stack_of
from ultracluster.planning._texts import DOMAIN as DOMAIN
from ultracluster.planning._texts import EMAIL as EMAIL
from ultracluster.planning._texts import NFS_EXPORT as NFS_EXPORT
from ultracluster.planning._texts import NFS_SERVER as NFS_SERVER
from ultracluster.planning._texts import arn_problem as arn_problem
from ultracluster.planning._texts import email_problem as email_problem
from ultracluster.planning._texts import id_problem as id_problem
from ultracluster.planning._texts import known as known
from ultracluster.planning._texts import text_problem as text_problem
from ultracluster.planning._texts import token_errors as token_errors
from ultracluster.planning._types import as_list as as_list
from ultracluster.planning._types import check_fields as check_fields
from ultracluster.planning._types import check_types as check_types
from ultracluster.planning._types import checked as checked
from ultracluster.planning._types import checked_except as checked_except
from ultracluster.planning._types import shown as shown
from ultracluster.planning._types import type_errors as type_errors

if TYPE_CHECKING:
    from ultracluster.planning._plan import Figure as Figure
    from ultracluster.planning._plan import Kind as Kind
    from ultracluster.planning._plan import Plan as Plan

_PACKAGES = ("capacity", "home", "lustre", "network", "nodes", "s3", "slurm", "workload")

if not TYPE_CHECKING:  # A package with __getattr__ has any name for type checkers.

    def __getattr__(name: str) -> Any:
        """Import a package of this one, or a plan, when it is first used: `import ultracluster.planning` stays fast."""
        if name in _PACKAGES:
            return import_module(f"{__name__}.{name}")
        if name in ("Figure", "Kind", "Plan"):
            return getattr(import_module(f"{__name__}._plan"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
