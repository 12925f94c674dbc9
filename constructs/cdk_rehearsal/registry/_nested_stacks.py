"""Nested stacks: the file of the template of one, in a cloud assembly of the CDK."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

#: Resource type.
NESTED_STACK = "AWS::CloudFormation::Stack"
#: Metadata of the resource with the file of its template, which the CDK CLI reads; apps that it does not run lack it.
TEMPLATE_FILE = "aws:asset:path"


def nested_template(resource: Mapping[str, Any], folder: Path) -> Path | None:
    """Return the template of a nested stack, by the metadata of its resource or by the hash in its URL, or None."""
    metadata = resource.get("Metadata")
    file = metadata.get(TEMPLATE_FILE) if isinstance(metadata, Mapping) else None
    url = json.dumps((resource.get("Properties") or {}).get("TemplateURL"))
    file = file or next((path for hash, path in _assets(folder) if hash in url), None)
    return folder / file if isinstance(file, str) and file.endswith(".template.json") else None


def _assets(folder: Path) -> Iterator[tuple[str, str]]:
    """Hash and path of the assets of an assembly; a manifest that is none shows nothing."""
    for manifest in folder.glob("*.assets.json"):
        with suppress(ValueError, AttributeError):
            for hash, asset in json.loads(manifest.read_text(encoding="utf-8")).get("files", {}).items():
                if path := asset.get("source", {}).get("path"):
                    yield hash, str(path)
