"""All facts of the catalogue: annotated constants, and records that name their source."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date
from types import ModuleType
from typing import Any, get_args, get_type_hints

from ultracluster.catalogue import ec2, monitoring, schedulers, storage, training
from ultracluster.catalogue.provenance import NO_DATE, Fact, Source, Stated

# Faces, whose import loads their private modules.
_FACES = (ec2, monitoring, schedulers, storage, training)
# Fields of records that are no columns.
_PROVENANCE = ("source", "read_on", "name", "model", "unit")
# Units of the fields of records with a source, which are named for their unit, or counted.
_FIELD_UNITS = {
    **{"_gb_per_s": "GB/s", "_tb_per_s": "TB/s", "_pflops": "PFLOP/s", "_gib": "GiB", "_tb": "TB", "_gbps": "Gbit/s"},
    **{"_bytes": "bytes", "bf16": "of the peak", "fp8": "of the peak", "coefficient": "parameters per FLOP**exponent"},
}
# Dates that the names of sources carry: a commit, a release, a post. A paper's number has its month: its first day.
_DATED = re.compile(r"(?:\bof |, )(20\d\d-\d\d-\d\d)")
_PAPER = re.compile(r"arxiv\.org/abs/(\d\d)(\d\d)\.")
# Releases that carry a copy of what AWS published, with the day on which they were built: file dates of the wheel.
_BUILT = {"moto 5.2.5": "2026-10-27"}


def all_facts() -> tuple[Fact, ...]:
    """Return all facts, sorted by name."""
    rows = [*_types(), *_versions(), *(fact for module in _modules() for fact in _constants(module))]
    return tuple(sorted(rows, key=lambda fact: fact.name))


def _types() -> Iterator[Fact]:
    for record in ec2.INSTANCE_TYPES.values():
        yield _fact(
            f"ec2.types.{record.name}",
            {"vcpus": record.vcpus, "gpus": record.gpus, "max_efa": record.max_efa, "efa_gbps": record.efa_gbps},
            Stated(
                _source(
                    record.source, record.read_on, f"aws ec2 describe-instance-types --instance-types {record.name}"
                ),
                columns="vcpus: vCPUs; gpus: GPUs; max_efa: EFA interfaces; efa_gbps: Gbit/s",
            ),
        )


def _versions() -> Iterator[Fact]:
    """Yield the ends of support one by one, so that `--expiring` finds each."""
    for version, end in schedulers.pcs.SLURM_VERSIONS.items():
        source = Source(
            "https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html", str(schedulers.pcs.READ_ON)
        )
        stated = Stated(source, columns="end of support")
        yield _fact(f"schedulers.pcs.slurm-{version}", end, stated, ends=date.fromisoformat(end))
    for version, support in schedulers.eks.VERSIONS.items():
        for phase, day in (("standard", support.standard_until), ("extended", support.extended_until)):
            source = Source(
                "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html",
                str(schedulers.eks.READ_ON),
                verify=f"aws eks describe-cluster-versions --cluster-versions {version}",
            )
            name = f"schedulers.eks.kubernetes-{version}.{phase}-support"
            yield _fact(name, str(day), Stated(source, columns=f"end of {phase} support"), ends=day)


def _modules() -> Iterator[ModuleType]:
    """Yield the modules below the faces."""
    prefixes = tuple(f"{face.__name__}._" for face in _FACES)
    for name, module in sorted(sys.modules.items()):
        if name.startswith(prefixes):
            yield module


def _constants(module: ModuleType) -> Iterator[Fact]:
    topic = module.__name__.removeprefix("ultracluster.catalogue.").replace("._", ".")
    listed: set[int] = set()
    # Modules of facts leave annotations unevaluated: an import needs none of the 280.
    annotations = get_type_hints(module, include_extras=True)
    for name, value in vars(module).items():
        stated = next((each for each in get_args(annotations.get(name)) if isinstance(each, Stated)), None)
        full = f"{topic}.{name.lstrip('_')}"
        if stated is not None:
            yield _fact(full, _plain(value), stated)
        elif name.isupper() and not name.startswith("_"):
            yield from _records(full, value, module, listed)


def _records(name: str, value: Any, module: ModuleType, listed: set[int]) -> Iterator[Fact]:
    """Yield the records of a module that have a source of their own; types of instances have other facts."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        value = {f"{number}": record for number, record in enumerate(value)}
    for key, record in (value if isinstance(value, Mapping) else {"": value}).items():
        defined_here = type(record).__module__ == module.__name__
        if not defined_here or isinstance(record, ec2.InstanceType) or not hasattr(record, "read_on"):
            continue
        # A table of them all has those again that have names of their own.
        if id(record) in listed:
            continue
        listed.add(id(record))
        columns = [name for name in _names(record) if name not in _PROVENANCE]
        stated = Stated(
            _source(record.source, record.read_on),
            columns="; ".join(f"{column}: {_unit(record, column)}" for column in columns),
        )
        plain = {column: _plain(getattr(record, column)) for column in columns}
        yield _fact(f"{name}.{key}" if key else name, plain, stated)


def _unit(record: object, column: str) -> str:
    """Return the unit of a field of a record, or what it is."""
    of_range = getattr(record, "unit", None) if column in ("low", "expected", "high") else None
    return of_range or next(
        (unit for end, unit in _FIELD_UNITS.items() if column.endswith(end)), column.replace("_", " ")
    )


def _source(name: str, read_on: str, verify: str | None = None) -> Source:
    built = next((day for release, day in _BUILT.items() if release in name), None)
    dated, paper = _DATED.search(name), _PAPER.search(name)
    month = f"20{paper[1]}-{paper[2]}-01" if paper else None
    return Source(name, read_on, built or (dated[1] if dated else month), verify)


def _fact(name: str, value: Any, stated: Stated, ends: date | None = None) -> Fact:
    source = stated.source
    address = re.search(r"https?://[^\s,;)]+", source.name)
    return Fact(
        name=name,
        value=value,
        unit=stated.unit,
        columns=stated.columns,
        source=source.name,
        read_on=date.fromisoformat(source.read_on),
        as_of=date.fromisoformat(source.as_of) if source.as_of else None,
        as_of_note=None if source.as_of else NO_DATE,
        ends=ends,
        verify=source.verify or f"open {address[0] if address else source.name}",
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if names := _names(value):
        return {name: _plain(getattr(value, name)) for name in names}
    match value:
        case re.Pattern():
            return value.pattern
        case Mapping():
            return {str(key): _plain(inner) for key, inner in value.items()}
        case Set():
            return sorted(map(str, value))
        case list() | tuple() | range():
            return [_plain(inner) for inner in value]
        case date():
            return str(value)
    return value


def _names(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of a record, or none of another value."""
    if isinstance(value, type):
        return ()
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    names: tuple[str, ...] = getattr(value, "_fields", ())
    return names
