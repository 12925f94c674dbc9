"""Write the files that a release offers beside the wheel: `python scripts/release_files.py [DIR]`; default: dist."""

import json
import sys
from pathlib import Path

from ultracluster.cli._facts import catalogue, catalogue_schema
from ultracluster.clusterfile import schema


def write(directory: Path) -> list[Path]:
    """Write the catalogue and the JSON schemas of the catalogue and of the cluster file."""
    directory.mkdir(parents=True, exist_ok=True)
    documents = {
        "catalogue.json": catalogue(),
        "catalogue.schema.json": catalogue_schema(),
        "cluster-file.schema.json": schema(),
    }
    for name, document in documents.items():
        (directory / name).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return [directory / name for name in documents]


if __name__ == "__main__":
    print(*write(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")), sep="\n")
