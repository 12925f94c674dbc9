"""`ultracluster facts`: the catalogue as one JSON document, for programs in other languages."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
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
from ultracluster.cli._output import print_json

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
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of the document instead.")] = False,
) -> None:
    """Print the catalogue as JSON: instance types, UltraServers, interfaces, zones, FSx for Lustre tiers."""
    print_json(catalogue_schema() if schema else catalogue())


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
