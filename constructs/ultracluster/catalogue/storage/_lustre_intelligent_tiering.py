"""Intelligent-Tiering of FSx for Lustre: PERSISTENT_2 whose storage grows and shrinks with the data.

It has no storage capacity and no tier, but a throughput capacity and an SSD read cache; it has no data repository
associations, and its throughput only grows.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/intelligent-tiering-file-systems.html,
managing-throughput-capacity.html, managing-ssd-read-cache.html and using-fsx-lustre.html (read 2026-11-21)
"""

from typing import Literal, get_args

#: ThroughputCapacity in MB/s comes in multiples of this; each is one storage server, with EFA as without.
STEP_MB_PER_S = 4_000
MOST_MB_PER_S = 2_000_000

# Network throughput in MB/s of each step.
NETWORK_MB_PER_S_PER_STEP = 12_500

# Storage that one server takes: 512 TiB.
MOST_GIB_PER_STEP = 512 * 1024

ReadCacheMode = Literal["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"]
READ_CACHE_MODES: tuple[ReadCacheMode, ...] = get_args(ReadCacheMode)

# SSD read cache in GiB for each step: what PROPORTIONAL_TO_THROUGHPUT_CAPACITY gives, and the range of
# USER_PROVISIONED.
READ_CACHE_GIB_PER_STEP = 20_000
LEAST_READ_CACHE_GIB_PER_STEP = 32
MOST_READ_CACHE_GIB_PER_STEP = 131_072

# IOPS of the SSD read cache: so many for each GiB, and so many at most for each step.
READ_CACHE_IOPS_PER_GIB = 3
MOST_READ_CACHE_IOPS_PER_STEP = 160_000
