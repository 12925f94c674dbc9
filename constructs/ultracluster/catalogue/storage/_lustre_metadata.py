"""Metadata IOPS of a PERSISTENT_2 file system: what is included, and what can be provisioned.

They can only be raised. A file system that is created without a metadata configuration never gets one.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html and managing-metadata-performance.html
(read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from ultracluster.catalogue.provenance import Source, Stated

_PERFORMANCE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html",
    read_on="2026-11-21",
)

MetadataMode = Literal["AUTOMATIC", "USER_PROVISIONED"]
METADATA_MODES: Annotated[tuple[MetadataMode, ...], Stated(_PERFORMANCE, columns="modes of metadata")] = get_args(
    MetadataMode
)

IOPS_PER_SERVER: Annotated[int, Stated(_PERFORMANCE, "IOPS")] = 12_000
MOST_IOPS: Annotated[int, Stated(_PERFORMANCE, "IOPS")] = 192_000

#: IOPS that USER_PROVISIONED takes on SSD: 1,500, 3,000, 6,000 and the multiples of 12,000 up to 192,000.
SSD_IOPS: Annotated[tuple[int, ...], Stated(_PERFORMANCE, "IOPS")] = (
    1_500,
    3_000,
    6_000,
    *range(IOPS_PER_SERVER, MOST_IOPS + 1, IOPS_PER_SERVER),
)

#: IOPS that Intelligent-Tiering takes, which has no AUTOMATIC.
INTELLIGENT_TIERING_IOPS: Annotated[tuple[int, ...], Stated(_PERFORMANCE, "IOPS")] = (6_000, 12_000)

_GIB_PER_IOPS_STEP: Annotated[int, Stated(_PERFORMANCE, "GiB")] = 24_000


def included_iops(capacity_gib: int) -> int:
    """The IOPS that AUTOMATIC gives an SSD file system of that capacity, at no price of their own."""
    for below, iops in ((2_400, 1_500), (4_800, 3_000), (12_000, 6_000), (48_000, IOPS_PER_SERVER)):
        if capacity_gib < below:
            return iops
    # The table says 12,000 for each 24,000 GiB, and not how it rounds. Up costs an address, down would miss one.
    return -(-capacity_gib // _GIB_PER_IOPS_STEP) * IOPS_PER_SERVER


def metadata_servers(iops: int) -> int:
    """Metadata servers, of one address each: one for each 12,000 IOPS."""
    return -(-iops // IOPS_PER_SERVER)
