"""Limits of data repository associations of FSx for Lustre.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html (read 2026-11-21)
"""

from typing import Literal

#: What may be imported or exported by itself, in the order of the documentation.
Event = Literal["NEW", "CHANGED", "DELETED"]
EVENTS: tuple[Event, ...] = ("NEW", "CHANGED", "DELETED")

MOST_ASSOCIATIONS = 8
IMPORTED_FILE_CHUNK_MIB = 1024
MOST_IMPORTED_FILE_CHUNK_MIB = 512_000
LONGEST_PATH = 4096
LONGEST_REPOSITORY = 4357

# Lustre 2.10 has none. https://docs.aws.amazon.com/fsx/latest/LustreGuide/overview-dra-data-repo.html (read 2026-11-21)
LUSTRE_VERSIONS = ("2.12", "2.15")

# A release task takes so many paths.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html (read 2026-11-21)
MOST_TASK_PATHS = 100
