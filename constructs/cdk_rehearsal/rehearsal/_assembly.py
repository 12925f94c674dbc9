"""Stacks of a cloud assembly (cdk.out)."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

_PLACE = re.compile(r"aws://([^/]+)/([^/]+)")


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Place:
    """An account and region that stacks go to."""

    account: str
    region: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AssembledStack:
    """One stack of an assembly."""

    name: str
    place: Place


def stacks(folder: Path, unknown: Place) -> list[AssembledStack]:
    """Return the stacks of an assembly, those of its stages included; `unknown` is the place of those without one."""
    artifacts = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("artifacts", {})
    result = []
    for name, artifact in artifacts.items():
        properties = artifact.get("properties", {})
        if artifact["type"] == "cdk:cloud-assembly":
            result += stacks(folder / properties["directoryName"], unknown)
        elif artifact["type"] == "aws:cloudformation:stack":
            match = _PLACE.match(artifact.get("environment", ""))
            account, region = match.groups() if match else ("unknown-account", "unknown-region")
            place = Place(
                account=unknown.account if account == "unknown-account" else account,
                region=unknown.region if region == "unknown-region" else region,
            )
            result.append(AssembledStack(name=properties.get("stackName", name), place=place))
    return result
