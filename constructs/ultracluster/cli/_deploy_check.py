"""Checks of `deploy` and `diff` beyond those of the guard: ids, and the clusters that resources of templates are of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Templates by the name of their stack.
Templates = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DeployCheck:
    """A reason for which `deploy` and `diff` refuse an update.

    Args:
        id: Kebab case; never changes.
        reason: Why it exists, in one line.
    """

    id: str
    reason: str

    def __call__(self, text: str) -> str:
        """Return a line of the verdict."""
        return f"{self.id}: {text}"


def read_templates(folder: Path) -> Templates:
    """Return the templates of a side of a comparison."""
    ending = ".template.json"
    files = sorted(folder.glob(f"*{ending}"))
    return {file.name.removesuffix(ending): json.loads(file.read_text(encoding="utf-8")) for file in files}


def properties_of(templates: Templates, stack: str, logical_id: str) -> Mapping[str, Any]:
    """Return the properties of a resource; empty if there is none."""
    return templates.get(stack, {}).get("Resources", {}).get(logical_id, {}).get("Properties") or {}


def cluster_of(templates: Templates, stack: str, value: object) -> str | None:
    """Return the name of the cluster that a property refers to, also in another stack, or None if it is not shown."""
    match value:
        case str():
            return value
        case {"Ref": str(id)} | {"Fn::GetAtt": [str(id), *_]}:
            name = properties_of(templates, stack, id).get("Name")
            return name if isinstance(name, str) else None
        case {"Fn::ImportValue": str(export)}:
            for other, template in templates.items():
                for output in template.get("Outputs", {}).values():
                    if output.get("Export", {}).get("Name") == export:
                        return cluster_of(templates, other, output["Value"])
    return None
