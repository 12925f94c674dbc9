"""Intelligent-Tiering of FSx for Lustre: PERSISTENT_2 whose storage grows and shrinks with the data.

It has no storage capacity and no tier, but a throughput capacity and an SSD read cache; it has no data repository
associations, and its throughput only grows.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/intelligent-tiering-file-systems.html,
managing-throughput-capacity.html, managing-ssd-read-cache.html and using-fsx-lustre.html (read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from ultracluster.catalogue.provenance import Source, Stated

_GUIDE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/intelligent-tiering-file-systems.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-ssd-read-cache.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html",
    read_on="2026-11-21",
)
_CACHE_GUIDE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-ssd-read-cache.html", read_on="2026-11-27"
)

#: ThroughputCapacity in MB/s comes in multiples of this; each is one storage server, with EFA as without.
STEP_MB_PER_S: Annotated[int, Stated(_GUIDE, "MB/s")] = 4_000
MOST_MB_PER_S: Annotated[int, Stated(_GUIDE, "MB/s")] = 2_000_000

# Network throughput in MB/s of each step.
NETWORK_MB_PER_S_PER_STEP: Annotated[int, Stated(_GUIDE, "MB/s for each step")] = 12_500

# Storage that one server takes: 512 TiB.
MOST_GIB_PER_STEP: Annotated[int, Stated(_GUIDE, "GiB for each step")] = 512 * 1024

ReadCacheMode = Literal["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"]
READ_CACHE_MODES: Annotated[tuple[ReadCacheMode, ...], Stated(_GUIDE, columns="modes of the read cache")] = get_args(
    ReadCacheMode
)

# SSD read cache in GiB for each step: what PROPORTIONAL_TO_THROUGHPUT_CAPACITY gives, and the range of
# USER_PROVISIONED.
READ_CACHE_GIB_PER_STEP: Annotated[int, Stated(_GUIDE, "GiB for each step")] = 20_000
LEAST_READ_CACHE_GIB_PER_STEP: Annotated[int, Stated(_GUIDE, "GiB for each step")] = 32
MOST_READ_CACHE_GIB_PER_STEP: Annotated[int, Stated(_GUIDE, "GiB for each step")] = 131_072
# Change of its size; a smaller one fails.
LEAST_READ_CACHE_CHANGE_PERCENT: Annotated[int, Stated(_CACHE_GUIDE, "percent")] = 10
