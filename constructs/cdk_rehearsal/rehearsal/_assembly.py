"""Stacks of a cloud assembly (cdk.out)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from cdk_rehearsal.rehearsal._blueprint import Environment

_PLACE = re.compile(r"aws://([^/]+)/([^/]+)")


def stacks(folder: Path, unknown: Environment) -> Iterator[tuple[str, Environment]]:
    """Go through the names and environments of an assembly's stacks, those of its stages included.

    `unknown` is the environment of those without one.
    """
    artifacts = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("artifacts", {})
    for name, artifact in artifacts.items():
        properties = artifact.get("properties", {})
        if artifact["type"] == "cdk:cloud-assembly":
            yield from stacks(folder / properties["directoryName"], unknown)
        elif artifact["type"] == "aws:cloudformation:stack":
            match = _PLACE.match(artifact.get("environment", ""))
            account, region = match.groups() if match else ("unknown-account", "unknown-region")
            environment = Environment(
                account=unknown.account if account == "unknown-account" else account,
                region=unknown.region if region == "unknown-region" else region,
            )
            yield properties.get("stackName", name), environment
