"""`ultracluster facts`: all facts with source and dates, and the catalogue as one JSON document for other languages."""

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import typer

from ultracluster import __version__
from ultracluster.catalogue.ec2 import (
    INSTANCE_TYPES,
    LAYOUTS,
    OFFERED,
    ULTRASERVERS,
    InstanceType,
    Interface,
    Layout,
    UltraServer,
    interfaces,
)
from ultracluster.catalogue.storage import lustre
from ultracluster.cli._output import JsonOption, misuse, print_json

SCHEMA_ID = "urn:ultracluster:catalogue:1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Published facts on the hardware, each record with its source and the day it was read.

    Args:
        version: Release of cdk-ultracluster.
        instance_types: EC2 instance types.
        ultraservers: UltraServers: instances that share one NVLink domain.
        interfaces: Network interfaces of a node by instance type and layout.
        zones: Ids of the zones that sell an instance type.
        lustre_tiers: Throughput tiers of FSx for Lustre.
    """

    version: str
    instance_types: tuple[InstanceType, ...]
    ultraservers: tuple[UltraServer, ...]
    interfaces: Mapping[str, Mapping[Layout, tuple[Interface, ...]]]
    zones: Mapping[str, tuple[str, ...]]
    lustre_tiers: tuple[lustre.LustreTier, ...]


def facts(
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="DAYS", help="Facts that their source stated, or that were read, longer ago, such as 90d."
        ),
    ] = None,
    expiring: Annotated[
        str | None, typer.Option(metavar="DAYS", help="Facts on what ends within these days, or has ended.")
    ] = None,
    document: Annotated[
        bool, typer.Option("--catalogue", help="Print the catalogue instead: types, interfaces, zones, Lustre tiers.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of --catalogue instead.")] = False,
    json_: JsonOption = False,
) -> None:
    """List all facts with value, unit or columns, source, dates, and how to verify each.

    With both --older-than and --expiring, facts of either kind.
    """
    if document or schema:
        print_json(catalogue_schema() if schema else catalogue())
        return
    from ultracluster.catalogue import facts as all_facts

    today = date.today()
    age, rest = _days("--older-than", older_than), _days("--expiring", expiring)
    rows = [
        fact
        for fact in all_facts()
        if (age is None and rest is None)
        or (age is not None and (today - min(fact.read_on, fact.as_of or fact.read_on)).days > age)
        or (rest is not None and fact.ends is not None and (fact.ends - today).days <= rest)
    ]
    if json_:
        from pydantic import TypeAdapter

        print_json(TypeAdapter(list[Any]).dump_python(rows, mode="json"))
        return
    for fact in rows:
        value = json.dumps(fact.value)
        short = value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 3]}..."
        typer.echo(f"{fact.name}: {short}{f' {fact.unit}' if fact.unit else ''}")
        if fact.columns:
            typer.echo(f"  {fact.columns}")
        dates = [f"read {fact.read_on}", f"as of {fact.as_of}" if fact.as_of else str(fact.as_of_note)]
        dates += [f"ends {fact.ends}"] if fact.ends else []
        typer.echo(f"  {', '.join(dates)}; {fact.source}")
        typer.echo(f"  verify: {fact.verify}")
    typer.echo(f"{len(rows)} facts")


# Wide enough for one number, or a short list.
_LONGEST_VALUE = 80


def _days(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,5})\s?d?", text, re.ASCII)
    if match is None:
        misuse(f"{option} must be a number of days, such as 90d, got {text!r}")
    return int(match[1])


def catalogue() -> dict[str, Any]:
    from pydantic import TypeAdapter

    document = Catalogue(
        version=__version__,
        instance_types=tuple(INSTANCE_TYPES.values()),
        ultraservers=tuple(ULTRASERVERS.values()),
        interfaces={name: layouts_of(record) for name, record in INSTANCE_TYPES.items()},
        zones={name: tuple(zones) for name, zones in OFFERED.items()},
        lustre_tiers=tuple(lustre.TIERS),
    )
    result: dict[str, Any] = TypeAdapter(Catalogue).dump_python(document, mode="json")
    return result


def catalogue_schema() -> dict[str, Any]:
    from pydantic import TypeAdapter

    schema = TypeAdapter(Catalogue).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


def layouts_of(record: InstanceType) -> dict[Layout, tuple[Interface, ...]]:
    """Interfaces in each layout that the type has."""
    layouts: dict[Layout, tuple[Interface, ...]] = {}
    for layout in LAYOUTS:
        with contextlib.suppress(ValueError):
            layouts[layout] = tuple(interfaces(record, layout))
    return layouts
