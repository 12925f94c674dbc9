"""The contract of every exported construct: which of the CDK's manners apply to it, and how each is exercised.

One module per package holds the rows of its constructs. `tests/house/test_contract.py` runs each row through
JavaScript, and fails when an exported construct has no row.
"""

import importlib
import inspect
from collections.abc import Iterator

from constructs import Construct

from support.contracts._row import Connects, Grants, Imported, No, Row
from support.contracts._world import ACCOUNT, REGION, World, assembly
from support.faces import names_of_face

__all__ = [
    "ACCOUNT",
    "MANNERS",
    "PACKAGES",
    "REGION",
    "Connects",
    "Grants",
    "Imported",
    "No",
    "Row",
    "World",
    "assembly",
    "exported",
    "rows",
]

PACKAGES = ("network", "security", "compute", "storage", "observability", "slurm", "eks", "hyperpod", "stacks")

#: Columns of the table.
MANNERS = {
    "connects": "`connections`, both ways, with a default port",
    "grants": "`grants`: any `IGrantable` in, `iam.Grant` out",
    "principal": "is an `IGrantable` itself",
    "tags": "`Tags.of(x)` reaches its resources",
    "default_child": "`node.default_child`",
    "tokens": "takes tokens",
    "imported": "`from_..._attributes` gives the same interface",
    "metrics": "`metrics`: methods return metrics of CloudWatch",
    "alarms": "`alarms`: threshold, periods and action are arguments",
    "uses": "accepted where the CDK takes such a construct",
}


def exported() -> dict[str, type[Construct]]:
    """Every construct that a package exports, as `package.Name`."""
    result: dict[str, type[Construct]] = {}
    for package in PACKAGES:
        face = importlib.import_module(f"ultracluster.{package}")
        for name in names_of_face(face.__name__):
            value = getattr(face, name)
            if inspect.isclass(value) and issubclass(value, Construct):
                result[f"{package}.{name}"] = value
    return result


def rows() -> dict[str, Row]:
    """Every row, as `package.Name`."""
    return {f"{package}.{name}": row for package, name, row in _rows()}


def _rows() -> Iterator[tuple[str, str, Row]]:
    for package in PACKAGES:
        module = importlib.import_module(f"support.contracts.{package}")
        for name, row in module.ROWS.items():
            yield package, name, row
