"""All facts of the catalogue: value, unit, source, dates, and how to verify each.

A fact is a record with its source, or a constant with a dated source in the comment above it. The constants are read
from the modules themselves, so that a fact has one place, and a new one needs no second list.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from types import ModuleType
from typing import Any, get_args

from ultracluster.catalogue import ec2, monitoring, schedulers, storage, training

# Faces, whose import loads their private modules.
_FACES = (ec2, monitoring, schedulers, storage, training)
_READ = re.compile(r"read (?:on )?(20\d\d-\d\d-\d\d)")
_URL = re.compile(r"https?://[^\s,;)'\"]+")
# Releases that carry a copy of what AWS published, with the day on which they were built: file dates of the wheel.
_BUILT = {"moto 5.2.5": date(2026, 10, 27)}
# Words of the names of constants, rates before what they are rates of.
_UNITS = {
    **{"PER_1000_NODE_DAYS": "per 1,000 node-days", "MB_PER_S": "MB/s", "MIB_PER_S": "MiB/s", "GIB_PER_S": "GiB/s"},
    **{"IOPS_PER_GIB": "IOPS/GiB", "GIB_PER_IOPS_STEP": "GiB/step", "GIB": "GiB", "MIB": "MiB", "KIB": "KiB"},
    **{"BYTES": "bytes", "GBPS": "Gbit/s", "IOPS": "IOPS", "SECONDS": "s", "MINUTES": "min", "HOURS": "h"},
    **{"DAYS": "d", "PERCENT": "%"},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A published fact.

    Args:
        name: Topic and name, such as `schedulers.pcs.SIZES`.
        value: The value, as JSON has it.
        unit: Its unit, or None.
        source: Address or name of the source.
        read_on: Day on which the source was read.
        as_of: Day on which the source stated it, or None if the source has no date.
        ends: Last day of what it describes, or None.
        verify: How to verify it.
    """

    name: str
    value: Any
    unit: str | None
    source: str
    read_on: date
    as_of: date | None
    ends: date | None
    verify: str


def all_facts() -> tuple[Fact, ...]:
    """Return all facts, sorted by name."""
    rows = [*_types(), *_versions(), *(fact for module in _modules() for fact in _constants(module))]
    return tuple(sorted({fact.name: fact for fact in rows}.values(), key=lambda fact: fact.name))


def _types() -> Iterator[Fact]:
    for record in ec2.INSTANCE_TYPES.values():
        yield _fact(
            f"ec2.types.{record.name}",
            {"vcpus": record.vcpus, "gpus": record.gpus, "max_efa": record.max_efa, "efa_gbps": record.efa_gbps},
            record.source,
            record.read_on,
            verify=f"aws ec2 describe-instance-types --instance-types {record.name}",
        )
    for server in ec2.ULTRASERVERS.values():
        yield _fact(f"ec2.ultraservers.{server.name}", server.instances, server.source, server.read_on, "instances")


def _versions() -> Iterator[Fact]:
    slurm = "https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html"
    for version, end in schedulers.pcs.SLURM_VERSIONS.items():
        day = date.fromisoformat(end)
        yield _fact(f"schedulers.pcs.slurm-{version}", end, slurm, str(schedulers.pcs.READ_ON), "date", ends=day)
    calendar = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
    for version, support in schedulers.eks.VERSIONS.items():
        for phase, day in (("standard", support.standard_until), ("extended", support.extended_until)):
            name = f"schedulers.eks.kubernetes-{version}.{phase}-support"
            command = f"aws eks describe-cluster-versions --cluster-versions {version}"
            read_on = str(schedulers.eks.READ_ON)
            yield _fact(name, str(day), calendar, read_on, "date", ends=day, verify=command)


def _modules() -> Iterator[ModuleType]:
    """Yield the modules below the faces."""
    prefixes = tuple(f"{face.__name__}._" for face in _FACES)
    for name, module in sorted(sys.modules.items()):
        if name.startswith(prefixes):
            yield module


def _constants(module: ModuleType) -> Iterator[Fact]:
    text = inspect.getsource(module)
    lines = text.splitlines()
    tree = ast.parse(text)
    above = ast.get_docstring(tree) or ""
    topic = module.__name__.removeprefix("ultracluster.catalogue.").replace("._", ".")
    comment, last = "", 0
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(target, ast.Name) or not hasattr(module, target.id):
            continue
        block = _comment(lines, node.lineno)
        inner = "\n".join(line for line in lines[node.lineno - 1 : node.end_lineno] if "#" in line)
        # Without a comment of its own, a constant on the next line belongs to the comment above.
        comment = block or (comment if node.lineno == last + 1 else "")
        last = node.end_lineno or node.lineno
        yield from _records(f"{topic}.{target.id.lstrip('_')}", getattr(module, target.id))
        stated = next((text for text in (f"{comment}\n{inner}", above) if _READ.search(text)), None)
        value = _plain(getattr(module, target.id))
        if stated is None or value is None:
            continue
        sources = " ".join(dict.fromkeys(_URL.findall(stated))) or " ".join(stated.replace("#", "").split())
        built = next((release for release in _BUILT if release in stated), None)
        read_on = min(_READ.findall(stated))
        yield _fact(
            f"{topic}.{target.id.lstrip('_')}",
            value,
            f"{sources} ({built})" if built else sources,
            read_on,
            next((unit for end, unit in _UNITS.items() if f"_{end}_" in f"_{target.id}_"), None),
        )


def _records(name: str, value: Any) -> Iterator[Fact]:
    """Yield the records of a table that have a source of their own; types of instances have other facts."""
    if not isinstance(value, Mapping):
        return
    for key, record in value.items():
        source, read_on = getattr(record, "source", None), getattr(record, "read_on", "")
        if (
            isinstance(source, str)
            and re.fullmatch(r"20\d\d-\d\d-\d\d", str(read_on))
            and not isinstance(record, ec2.InstanceType)
        ):
            value = {field.name: _plain(getattr(record, field.name)) for field in fields(record)}
            yield _fact(f"{name}.{key}", value, source, str(read_on))


def _comment(lines: list[str], number: int) -> str:
    """Return the comment above a line."""
    first = number - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(line.lstrip("#: ") for line in lines[first : number - 1])


def _fact(
    name: str,
    value: Any,
    source: str,
    read_on: str,
    unit: str | None = None,
    *,
    ends: date | None = None,
    verify: str | None = None,
) -> Fact:
    as_of = next((day for release, day in _BUILT.items() if release in source), None)
    return Fact(
        name=name,
        value=value,
        unit=unit,
        source=source,
        read_on=date.fromisoformat(read_on),
        as_of=as_of,
        ends=ends,
        verify=verify or "read the source again",
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it, or None for what is no value: records have facts of their own."""
    match value:
        case str() | bool() | int() | float():
            return value
        case re.Pattern():
            return value.pattern
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case Set():
            return sorted(map(str, value))
        case list() | tuple() | range():
            # Types of instances have facts of their own.
            return [_plain(inner) for inner in value if not isinstance(inner, ec2.InstanceType)] or None
        case date():
            return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return list(get_args(value)) or None
