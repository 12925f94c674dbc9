"""Which PERSISTENT_2 SSD file system gives a throughput and holds a capacity: `plan_lustre`, for its first callers."""

from dataclasses import dataclass

from ultracluster.planning.lustre_goal import LustreGoal, LustreOverrides
from ultracluster.planning.lustre_offer import LustreOffer
from ultracluster.planning.lustre_plan import plan_lustre

#: Throughput tiers in MB/s/TiB.
ALL_TIERS = LustreOffer().tiers


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSize:
    """A PERSISTENT_2 SSD file system to buy.

    Args:
        capacity_gib: Storage capacity in GiB.
        mb_per_s_per_tib: Throughput tier: disk throughput in MB/s for each TiB of capacity.
        efa: Whether clients reach it over EFA. Fixed for its life, and the tier with it.
        throughput_mb_per_s: Disk throughput of the whole in MB/s, rounded down.
        storage_servers: Servers of file data.
        metadata_servers: Servers of metadata.
        usd_per_month: At us-east-2's list price of 2026-10-09. It ranks shapes; it is no quotation.
        reasons: Why it is so, in sentences.
    """

    capacity_gib: int
    mb_per_s_per_tib: int
    efa: bool
    throughput_mb_per_s: int
    storage_servers: int
    metadata_servers: int
    usd_per_month: int
    reasons: tuple[str, ...]

    @property
    def addresses(self) -> int:
        """Addresses that its servers take in its subnet, one each."""
        return self.storage_servers + self.metadata_servers


def size_lustre(
    *,
    throughput_mb_per_s: int,
    capacity_gib: int = 0,
    tier: int | None = None,
    efa: bool | None = None,
    efa_offered: bool = True,
    tiers_offered: tuple[int, ...] = ALL_TIERS,
) -> LustreSize:
    """The cheapest file system that gives a throughput and holds a capacity.

    Args:
        throughput_mb_per_s: Disk throughput in MB/s (10^6 bytes) that all clients together want.
        capacity_gib: GiB to hold at least. Default: whatever the throughput brings.
        tier: 125, 250, 500 or 1000 MB/s/TiB. Default: the cheapest.
        efa: Whether clients reach it over EFA. Default: above 10 GB/s, as AWS recommends, if it is offered.
        efa_offered: Whether the place sells EFA and a client can use it; False: `efa` is off by default.
        tiers_offered: Tiers that the place sells; see `lustre_offer`.

    Raises:
        ValueError: When throughput or capacity is out of range, or the tier is not sold. All reasons at once.

    See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/ssd-storage.html (read 2026-11-20)
    """
    plan = plan_lustre(
        LustreGoal(throughput_mb_per_s=throughput_mb_per_s, capacity_gib=capacity_gib),
        offer=LustreOffer(tiers=tiers_offered, efa=efa_offered or bool(efa)),
        overrides=LustreOverrides(mb_per_s_per_tib=tier, efa=efa),
    )
    spec = plan.spec
    return LustreSize(
        capacity_gib=spec.capacity_gib or 0,
        mb_per_s_per_tib=spec.mb_per_s_per_tib or 0,
        efa=spec.efa,
        throughput_mb_per_s=int(spec.disk_write_mb_per_s),
        storage_servers=spec.storage_servers,
        metadata_servers=spec.metadata_servers,
        usd_per_month=int(spec.usd_per_month or 0),
        reasons=plan.reasons,
    )
