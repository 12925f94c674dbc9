"""Limits of data repository associations of FSx for Lustre.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html (read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated, Literal

from ultracluster.catalogue.provenance import Source, Stated

_CREATE_ASSOCIATION = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
    read_on="2026-11-21",
)
_OVERVIEW = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html", read_on="2026-11-21"
)
_CREATE_TASK = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html", read_on="2026-11-21"
)

#: What may be imported or exported by itself, in the order of the documentation.
Event = Literal["NEW", "CHANGED", "DELETED"]
EVENTS: Annotated[tuple[Event, ...], Stated(_CREATE_ASSOCIATION, columns="events")] = ("NEW", "CHANGED", "DELETED")

MOST_ASSOCIATIONS: Annotated[int, Stated(_CREATE_ASSOCIATION, "associations")] = 8
IMPORTED_FILE_CHUNK_MIB: Annotated[int, Stated(_CREATE_ASSOCIATION, "MiB")] = 1024
MOST_IMPORTED_FILE_CHUNK_MIB: Annotated[int, Stated(_CREATE_ASSOCIATION, "MiB")] = 512_000
LONGEST_PATH: Annotated[int, Stated(_CREATE_ASSOCIATION, "characters")] = 4096
LONGEST_REPOSITORY: Annotated[int, Stated(_CREATE_ASSOCIATION, "characters")] = 4357

# Lustre 2.10 has none.
LUSTRE_VERSIONS: Annotated[tuple[str, ...], Stated(_OVERVIEW, columns="versions of Lustre")] = ("2.12", "2.15")

# A release task takes so many paths.
MOST_TASK_PATHS: Annotated[int, Stated(_CREATE_TASK, "paths")] = 100
