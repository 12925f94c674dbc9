"""FSx for Lustre on SSD: throughput tiers and capacities of PERSISTENT_2 and SCRATCH_2.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html and getting-started.html (read 2026-11-21)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_SSD_STORAGE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html",
    read_on="2026-11-21",
)
_UPDATE_FILE_SYSTEM = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html", read_on="2026-11-21"
)
_USING_FSX_LUSTRE = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html", read_on="2026-11-21"
)
_PERFORMANCE = Source("https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html", read_on="2026-11-20")
_CREATE_FILE_SYSTEM = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html", read_on="2026-11-21"
)
_NAMES = Source(
    "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html", read_on="2026-11-21"
)
_LUSTRE_CLIENT_MATRIX = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html", read_on="2026-11-21"
)
_PRICE_LIST = Source("https://aws.amazon.com/fsx/lustre/pricing/", read_on="2026-10-09")
_PERFORMANCE_2 = Source("https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html", read_on="2026-11-21")

# Id of a file system; LustreMountName; WeeklyMaintenanceStartTime in UTC, `d:HH:MM` with 1 for Monday.
FILE_SYSTEM_ID: Annotated[re.Pattern[str], Stated(_NAMES, columns="regular expression")] = re.compile(
    r"fs-([0-9a-f]{8}|[0-9a-f]{17})"
)
MOUNT_NAME: Annotated[re.Pattern[str], Stated(_NAMES, columns="regular expression")] = re.compile(
    r"[A-Za-z0-9_-]{1,8}", re.ASCII
)
MAINTENANCE: Annotated[re.Pattern[str], Stated(_NAMES, columns="regular expression")] = re.compile(
    r"[1-7]:([01]\d|2[0-3]):[0-5]\d", re.ASCII
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreTier:
    """A throughput tier of PERSISTENT_2. Figures are MB/s for each TiB, the same for reads and writes.

    Args:
        mb_per_s_per_tib: PerUnitStorageThroughput: disk throughput, baseline.
        disk_burst: Disk throughput, burst, or None.
        network: Network throughput, baseline: that of reads from the servers' memory.
        network_burst: Network throughput, burst, or None.
        efa_step_gib: With EFA, capacity comes in multiples of this many GiB; each is one storage server.
    """

    mb_per_s_per_tib: int
    disk_burst: int | None
    network: int
    network_burst: int | None
    efa_step_gib: int


TIERS: Annotated[
    tuple[LustreTier, ...],
    Stated(
        _SSD_STORAGE,
        columns="mb_per_s_per_tib, disk_burst, network, network_burst in MB/s for each TiB; efa_step_gib in GiB",
    ),
] = (
    LustreTier(mb_per_s_per_tib=125, disk_burst=500, network=320, network_burst=1300, efa_step_gib=38_400),
    LustreTier(mb_per_s_per_tib=250, disk_burst=500, network=640, network_burst=1300, efa_step_gib=19_200),
    LustreTier(mb_per_s_per_tib=500, disk_burst=None, network=1300, network_burst=None, efa_step_gib=9_600),
    LustreTier(mb_per_s_per_tib=1000, disk_burst=None, network=2600, network_burst=None, efa_step_gib=4_800),
)  # fmt: skip

#: Price by tier, in us-east-2. It only ranks the tiers.
USD_PER_GB_MONTH: Annotated[Mapping[int, float], Stated(_PRICE_LIST, "MB/s/TiB: USD for each GB and month")] = (
    MappingProxyType({125: 0.145, 250: 0.21, 500: 0.34, 1000: 0.60})
)

# SCRATCH_2, MB/s for each TiB: it has one tier only, and writes at half the speed at which it reads.
SCRATCH_READ: Annotated[int, Stated(_SSD_STORAGE, "MB/s/TiB")] = 200
SCRATCH_WRITE: Annotated[int, Stated(_SSD_STORAGE, "MB/s/TiB")] = 100
SCRATCH_NETWORK: Annotated[int, Stated(_SSD_STORAGE, "MB/s/TiB")] = 200

# Without EFA, and SCRATCH_2: 1,200 GiB, or a multiple of 2,400.
SMALLEST_GIB: Annotated[int, Stated(_SSD_STORAGE, "GiB")] = 1_200
STEP_GIB: Annotated[int, Stated(_SSD_STORAGE, "GiB")] = 2_400

# HDD file systems grow by these, GiB for each tier in MB/s/TiB.
_HDD_STEPS_GIB: Annotated[dict[int, int], Stated(_UPDATE_FILE_SYSTEM, "GiB, by MB/s/TiB")] = {12: 6_000, 40: 1_800}

# Storage servers without EFA, PERSISTENT_2 and SCRATCH_2 alike: one for each 2,400 GiB (the page writes 2.4 TiB).
GIB_PER_SERVER_WITHOUT_EFA: Annotated[int, Stated(_USING_FSX_LUSTRE, "GiB")] = 2_400

# AWS recommends EFA above this, https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html (read 2026-11-20).
EFA_ABOVE_MB_PER_S: Annotated[int, Stated(_PERFORMANCE, "MB/s")] = 10_000

COMPRESSIONS: Annotated[tuple[str, ...], Stated(_SSD_STORAGE, columns="types of compression")] = ("NONE", "LZ4")

# Lustre versions that FSx takes. A metadata configuration, and EFA through it, takes 2.15 only.
VERSIONS: Annotated[tuple[str, ...], Stated(_CREATE_FILE_SYSTEM, columns="versions of Lustre")] = (
    "2.10",
    "2.12",
    "2.15",
)
VERSION_OF_METADATA: Annotated[str, Stated(_CREATE_FILE_SYSTEM, columns="version of Lustre")] = "2.15"
# Versions that the clients of AL2023 and Ubuntu 24.04 mount.
VERSIONS_OF_CLIENTS: Annotated[tuple[str, ...], Stated(_LUSTRE_CLIENT_MATRIX, columns="versions of Lustre")] = (
    "2.12",
    "2.15",
)

# Throughput of one client in Gbit/s: over TCP, with EFA as without; over TCP from one storage server; over EFA.
TCP_GBPS: Annotated[int, Stated(_PERFORMANCE_2, "Gbit/s")] = 100
TCP_GBPS_PER_SERVER: Annotated[int, Stated(_PERFORMANCE_2, "Gbit/s")] = 5
EFA_GBPS: Annotated[int, Stated(_PERFORMANCE_2, "Gbit/s")] = 700
EFA_GPUDIRECT_GBPS: Annotated[int, Stated(_PERFORMANCE_2, "Gbit/s")] = 1200


def tier(mb_per_s_per_tib: int) -> LustreTier:
    """Return the tier of a throughput. The figures of a tier that is newer than these facts are those of the pattern.

    Capacity with EFA has the same throughput for each step in all tiers, and the network 2.6 times that of the disks.

    Raises:
        ValueError: If the throughput is not positive.
    """
    if mb_per_s_per_tib < 1:
        raise ValueError(f"the tier must be at least 1 MB/s/TiB, got {mb_per_s_per_tib}")
    for row in TIERS:
        if row.mb_per_s_per_tib == mb_per_s_per_tib:
            return row
    last = TIERS[-1]
    return replace(
        last,
        mb_per_s_per_tib=mb_per_s_per_tib,
        network=last.network * mb_per_s_per_tib // last.mb_per_s_per_tib,
        efa_step_gib=last.efa_step_gib * last.mb_per_s_per_tib // mb_per_s_per_tib,
    )


def growth_step_gib(*, storage_type: str, mb_per_s_per_tib: int | None, efa: bool) -> int | None:
    """Return the step in GiB by which a file system grows, or None if not known.

    Args:
        storage_type: SSD or HDD.
        mb_per_s_per_tib: Throughput tier, or None.
        efa: It has EFA.

    See: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
    """
    if storage_type == "HDD":
        return _HDD_STEPS_GIB.get(mb_per_s_per_tib or 0)
    if not efa:
        return STEP_GIB if storage_type == "SSD" else None
    return next((row.efa_step_gib for row in TIERS if row.mb_per_s_per_tib == mb_per_s_per_tib), None)


def next_capacity_without_efa(gib: float) -> int:
    """Return the smallest capacity in GiB of SCRATCH_2, or PERSISTENT_2 without EFA, that is at least `gib`."""
    return SMALLEST_GIB if gib <= SMALLEST_GIB else next_step(STEP_GIB, gib)


def next_step(step: int, requested: float) -> int:
    """Return the smallest positive multiple of a step that is not below the requested value."""
    return max(1, -(-int(-(-requested // 1)) // step)) * step
