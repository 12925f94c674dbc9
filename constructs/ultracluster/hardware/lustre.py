"""What FSx for Lustre sells on SSD: the grid of PERSISTENT_2 and of SCRATCH_2.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html and getting-started.html (read 2026-11-21)
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreTier:
    """One throughput tier of PERSISTENT_2. Figures are MB/s for each TiB; reading and writing have the same.

    Args:
        mb_per_s_per_tib: PerUnitStorageThroughput: disk throughput, baseline.
        disk_burst: Disk throughput, burst. None: the tier has none.
        network: Network throughput, baseline: what reads from the servers' memory get.
        network_burst: Network throughput, burst. None: the tier has none.
        efa_step_gib: With EFA, capacity comes in multiples of this many GiB; each is one storage server.
        usd_per_gb_month: Price in us-east-2, AWS Price List read 2026-10-09. It ranks the tiers; it is no quotation.
    """

    mb_per_s_per_tib: int
    disk_burst: int | None
    network: int
    network_burst: int | None
    efa_step_gib: int
    usd_per_gb_month: float


TIERS = (
    LustreTier(mb_per_s_per_tib=125, disk_burst=500, network=320, network_burst=1300, efa_step_gib=38_400,
               usd_per_gb_month=0.145),
    LustreTier(mb_per_s_per_tib=250, disk_burst=500, network=640, network_burst=1300, efa_step_gib=19_200,
               usd_per_gb_month=0.21),
    LustreTier(mb_per_s_per_tib=500, disk_burst=None, network=1300, network_burst=None, efa_step_gib=9_600,
               usd_per_gb_month=0.34),
    LustreTier(mb_per_s_per_tib=1000, disk_burst=None, network=2600, network_burst=None, efa_step_gib=4_800,
               usd_per_gb_month=0.60),
)  # fmt: skip

# SCRATCH_2, MB/s for each TiB: it has one tier only, and writes at half the speed at which it reads.
SCRATCH_READ = 200
SCRATCH_WRITE = 100
SCRATCH_NETWORK = 200
SCRATCH_NETWORK_BURST = 1300

# Without EFA, and SCRATCH_2: 1,200 GiB, or a multiple of 2,400.
SMALLEST_GIB = 1_200
STEP_GIB = 2_400

# HDD file systems grow by these, GiB for each tier in MB/s/TiB.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
_HDD_STEPS_GIB = {12: 6_000, 40: 1_800}

# Storage servers without EFA, PERSISTENT_2 and SCRATCH_2 alike: one for each 2,400 GiB (the page writes 2.4 TiB).
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html, IP addresses (read 2026-11-21)
GIB_PER_SERVER_WITHOUT_EFA = 2_400

# AWS recommends EFA above this, https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html (read 2026-11-20).
EFA_ABOVE_MB_PER_S = 10_000

COMPRESSIONS = ("NONE", "LZ4")

# Lustre versions that FSx takes. A metadata configuration, and EFA through it, takes 2.15 only.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html (read 2026-11-21)
VERSIONS = ("2.10", "2.12", "2.15")
VERSION_OF_METADATA = "2.15"
# Versions that the clients of AL2023 and Ubuntu 24.04 mount.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/lustre-client-matrix.html (read 2026-11-21)
VERSIONS_OF_CLIENTS = ("2.12", "2.15")

# Data repository associations of one file system.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html (read 2026-11-20)
MOST_ASSOCIATIONS = 8


def tier(mb_per_s_per_tib: int) -> LustreTier:
    """The tier of that throughput.

    Raises:
        ValueError: When FSx sells none of that throughput.
    """
    for found in TIERS:
        if found.mb_per_s_per_tib == mb_per_s_per_tib:
            return found
    sold = ", ".join(str(t.mb_per_s_per_tib) for t in TIERS)
    raise ValueError(f"the tier must be one of {sold} MB/s/TiB, got {mb_per_s_per_tib}")


def next_capacity(tier: LustreTier, *, efa: bool, gib: float) -> int:
    """The smallest capacity in GiB that FSx sells in a tier and that holds `gib`."""
    return next_step(tier.efa_step_gib, gib) if efa else next_capacity_without_efa(gib)


def growth_step_gib(*, storage_type: str, mb_per_s_per_tib: int | None, efa: bool) -> int | None:
    """A file system that grows does so to a multiple of this many GiB. None: not known.

    Args:
        storage_type: SSD or HDD.
        mb_per_s_per_tib: Its throughput tier. None: it has none.
        efa: Whether it has EFA.

    See: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
    """
    if storage_type == "HDD":
        return _HDD_STEPS_GIB.get(mb_per_s_per_tib or 0)
    if not efa:
        return STEP_GIB if storage_type == "SSD" else None
    return next((found.efa_step_gib for found in TIERS if found.mb_per_s_per_tib == mb_per_s_per_tib), None)


def next_capacity_without_efa(gib: float) -> int:
    """The smallest capacity in GiB of SCRATCH_2, or of PERSISTENT_2 without EFA, that holds `gib`."""
    return SMALLEST_GIB if gib <= SMALLEST_GIB else next_step(STEP_GIB, gib)


def next_step(step: int, wanted: float) -> int:
    """The smallest multiple of a step, and at least one, that is not below what is wanted."""
    return max(1, -(-int(-(-wanted // 1)) // step)) * step
