"""The contract of every exported construct: which of the CDK's manners apply to it, and how each is exercised.

One module per package holds the rows of its constructs. `tests/house/test_contract.py` runs each row through
JavaScript, and fails when an exported construct has no row.
"""

import importlib
import inspect
from collections.abc import Iterator

from constructs import Construct

from support.contracts._row import Connects, Grants, No, Row, Twin
from support.contracts._world import ACCOUNT, REGION, World, assembly
from support.faces import names_of_face

__all__ = [
    "ACCOUNT",
    "MANNERS",
    "PACKAGES",
    "REGION",
    "Connects",
    "Grants",
    "No",
    "Row",
    "Twin",
    "World",
    "assembly",
    "contract_table",
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
    "twin": "`from_..._attributes` gives the same interface",
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


def contract_table() -> str:
    """Constructs x manners, as Markdown, with the reason of each manner that does not apply."""
    reasons: dict[str, int] = {}
    head = ["construct", *(column.replace("_", " ") for column in MANNERS)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name, row in sorted(rows().items()):
        cells = [f"`{name}`"]
        for manner in MANNERS:
            value = getattr(row, manner)
            if isinstance(value, No):
                cells.append(f"no [{reasons.setdefault(value.reason, len(reasons) + 1)}]")
            else:
                cells.append(_cell(value))
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "For every construct: two of them fit in one stack; it may be in another stack than what it is given; if "
        "that is in another region, it synthesises by references of the CDK or names the argument; it "
        "synthesises without account and region; a permissions boundary set on the app reaches every role.",
        "",
        *(f"{number}. {reason}" for reason, number in reasons.items()),
    ]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    match value:
        case Connects():
            return f"`{value.default_port}`"
        case Grants():
            return ", ".join(f"`{method}`" for method in value.methods)
        case str():
            return f"`{value}`"
        case Twin():
            return f"`{value.interface.__name__}`"
        case dict():
            return ", ".join(value)
    return "yes"
