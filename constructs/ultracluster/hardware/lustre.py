"""What FSx for Lustre sells: the PERSISTENT_2 SSD grid.

See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html and getting-started.html (read 2026-11-20)
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreTier:
    """One throughput tier.

    Args:
        mb_per_s_per_tib: PerUnitStorageThroughput: disk throughput in MB/s for each TiB.
        efa_step_gib: With EFA, capacity comes in multiples of this many GiB; each is one storage server.
        usd_per_gb_month: Price in us-east-2, AWS Price List read 2026-10-09. It ranks the tiers; it is no quotation.
    """

    mb_per_s_per_tib: int
    efa_step_gib: int
    usd_per_gb_month: float


TIERS = (
    LustreTier(mb_per_s_per_tib=125, efa_step_gib=38_400, usd_per_gb_month=0.145),
    LustreTier(mb_per_s_per_tib=250, efa_step_gib=19_200, usd_per_gb_month=0.21),
    LustreTier(mb_per_s_per_tib=500, efa_step_gib=9_600, usd_per_gb_month=0.34),
    LustreTier(mb_per_s_per_tib=1000, efa_step_gib=4_800, usd_per_gb_month=0.60),
)

# Regions that sell no EFA and none but the two lower tiers; Local Zones don't either.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html (read 2026-11-20)
LESSER_REGIONS = frozenset({"il-central-1", "mx-central-1"})
LESSER_TIERS = (125, 250)

# Without EFA: 1,200 GiB, or a multiple of 2,400.
SMALLEST_GIB = 1_200
STEP_GIB = 2_400

# HDD file systems grow by these, GiB for each tier in MB/s/TiB.
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html (read 2026-11-21)
_HDD_STEPS_GIB = {12: 6_000, 40: 1_800}

# AWS recommends EFA above this, https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html (read 2026-11-20).
EFA_ABOVE_MB_PER_S = 10_000

# One metadata server, and one address, for each 12,000 IOPS; AUTOMATIC gives 12,000 for each 24,000 GiB, at least one.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html (read 2026-11-20)
GIB_PER_METADATA_SERVER = 24_000

# The number of storage servers without EFA is not published. One for each 1,200 GiB, the smallest file system, is an
# upper bound of ours: it only sets addresses aside.
GIB_PER_SERVER_WITHOUT_EFA = 1_200


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
    if efa:
        return max(1, -(-int(-(-gib // 1)) // tier.efa_step_gib)) * tier.efa_step_gib
    return SMALLEST_GIB if gib <= SMALLEST_GIB else -(-int(-(-gib // 1)) // STEP_GIB) * STEP_GIB


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
