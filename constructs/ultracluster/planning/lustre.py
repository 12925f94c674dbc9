"""Which FSx for Lustre file system gives a throughput and holds a capacity, for the least money."""

from dataclasses import dataclass
from decimal import Decimal

from ultracluster.hardware.lustre import (
    EFA_ABOVE_MB_PER_S,
    GIB_PER_METADATA_SERVER,
    GIB_PER_SERVER_WITHOUT_EFA,
    STEP_GIB,
    TIERS,
    LustreTier,
    next_capacity,
)
from ultracluster.hardware.lustre import (
    tier as tier_of,
)

_GIB_PER_TIB = 1024

#: Throughput tiers in MB/s/TiB.
ALL_TIERS = tuple(tier.mb_per_s_per_tib for tier in TIERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreSize:
    """A PERSISTENT_2 SSD file system to buy.

    Args:
        capacity_gib: Storage capacity in GiB.
        mb_per_s_per_tib: Throughput tier: disk throughput in MB/s for each TiB of capacity.
        efa: Whether clients reach it over EFA. Fixed for its life, and the tier with it.
        throughput_mb_per_s: Disk throughput of the whole in MB/s, rounded down.
        storage_servers: Servers of file data. Without EFA an upper bound, for AWS does not publish it.
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
    problems = []
    if throughput_mb_per_s < 1:
        problems.append(f"the throughput must be at least 1 MB/s, got {throughput_mb_per_s}")
    if capacity_gib < 0:
        problems.append(f"the capacity can't be negative, got {capacity_gib} GiB")
    if tier is not None and tier not in tiers_offered:
        sold = ", ".join(str(word) for word in tiers_offered)
        problems.append(f"the tier must be one of {sold} MB/s/TiB, got {tier}")
    if problems:
        raise ValueError("; ".join(problems))

    use_efa = efa if efa is not None else efa_offered and throughput_mb_per_s > EFA_ABOVE_MB_PER_S
    candidates = sorted(
        (
            _shape(tier_of(word), use_efa, throughput_mb_per_s, capacity_gib)
            for word in ([tier] if tier else tiers_offered)
        ),
        key=lambda shape: (shape.usd, shape.capacity_gib),
    )
    best = candidates[0]
    return LustreSize(
        capacity_gib=best.capacity_gib,
        mb_per_s_per_tib=best.tier.mb_per_s_per_tib,
        efa=use_efa,
        throughput_mb_per_s=best.throughput_mb_per_s,
        storage_servers=best.storage_servers,
        metadata_servers=best.metadata_servers,
        usd_per_month=int(best.usd),
        reasons=(
            _why_efa(use_efa, efa, efa_offered, throughput_mb_per_s),
            *_why_capacity(best, throughput_mb_per_s, capacity_gib),
            *_why_tier(candidates, tier),
        ),
    )


def check_capacity(capacity_gib: int, *, tier: int, efa: bool) -> list[str]:
    """What is wrong with the capacity of a tier, with the next sizes that are sold; nothing when it is right.

    Args:
        capacity_gib: GiB, as FSx would be asked for.
        tier: 125, 250, 500 or 1000 MB/s/TiB.
        efa: Whether the file system has EFA.
    """
    found = tier_of(tier)
    above = next_capacity(found, efa=efa, gib=capacity_gib)
    if above == capacity_gib:
        return []
    step = found.efa_step_gib if efa else STEP_GIB
    below = [size for size in (above - step, above - step // 2) if 0 < size < capacity_gib]
    sizes = [size for size in below if next_capacity(found, efa=efa, gib=size) == size][:1]
    sizes.append(above)
    what = f"{tier} MB/s/TiB {'with' if efa else 'without'} EFA"
    return [
        f"FSx sells no {capacity_gib:,} GiB at {what}, where capacity comes in steps of {step:,} GiB; "
        f"the next {'sizes are' if len(sizes) > 1 else 'size is'} {' and '.join(f'{gib:,} GiB' for gib in sizes)}"
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shape:
    tier: LustreTier
    efa: bool
    capacity_gib: int

    @property
    def throughput_mb_per_s(self) -> int:
        return self.capacity_gib * self.tier.mb_per_s_per_tib // _GIB_PER_TIB

    @property
    def storage_servers(self) -> int:
        return (
            self.capacity_gib // self.tier.efa_step_gib
            if self.efa
            else -(-self.capacity_gib // GIB_PER_SERVER_WITHOUT_EFA)
        )

    @property
    def metadata_servers(self) -> int:
        # From twice that capacity on, the included IOPS grow with it.
        few = self.capacity_gib < 2 * GIB_PER_METADATA_SERVER
        return 1 if few else -(-self.capacity_gib // GIB_PER_METADATA_SERVER)

    @property
    def usd(self) -> Decimal:
        return self.capacity_gib * Decimal(str(self.tier.usd_per_gb_month))

    @property
    def word(self) -> str:
        return f"{self.capacity_gib:,} GiB at {self.tier.mb_per_s_per_tib} MB/s/TiB"


def _shape(tier: LustreTier, efa: bool, throughput_mb_per_s: int, capacity_gib: int) -> _Shape:
    for_throughput = -(-throughput_mb_per_s * _GIB_PER_TIB // tier.mb_per_s_per_tib)
    gib = next_capacity(tier, efa=efa, gib=max(for_throughput, capacity_gib))
    return _Shape(tier=tier, efa=efa, capacity_gib=gib)


def _why_efa(use: bool, wish: bool | None, offered: bool, throughput_mb_per_s: int) -> str:
    if wish is not None:
        return f"{'with' if wish else 'without'} EFA, as asked"
    bound = f"the {EFA_ABOVE_MB_PER_S:,} MB/s above which AWS recommends it"
    if use:
        return f"with EFA: {throughput_mb_per_s:,} MB/s is more than {bound}"
    if throughput_mb_per_s > EFA_ABOVE_MB_PER_S and not offered:
        return "without EFA: no node can use it, or FSx does not sell it here"
    return f"without EFA: {throughput_mb_per_s:,} MB/s is not more than {bound}"


def _why_capacity(best: _Shape, throughput_mb_per_s: int, capacity_gib: int) -> list[str]:
    per_server = best.tier.efa_step_gib * best.tier.mb_per_s_per_tib / _GIB_PER_TIB
    reasons = [
        f"{best.word} give {best.throughput_mb_per_s:,} MB/s, and {throughput_mb_per_s:,} were asked"
        + (f"; a server gives {per_server:,.1f} MB/s, so it takes {best.storage_servers}" if best.efa else "")
    ]
    if capacity_gib:
        reasons.append(f"{best.capacity_gib:,} GiB hold the {capacity_gib:,} GiB asked")
    return reasons


def _why_tier(candidates: list[_Shape], wish: int | None) -> list[str]:
    best, *others = candidates
    price = f"about ${best.usd:,.0f} a month at us-east-2's list price of 2026-10"
    if wish is not None:
        return [f"{wish} MB/s/TiB, as asked: {price}"]
    rest = ", ".join(f"{other.tier.mb_per_s_per_tib} MB/s/TiB ${other.usd:,.0f}" for other in others)
    return [f"{best.tier.mb_per_s_per_tib} MB/s/TiB is the cheapest tier for it, {price}; the others: {rest}"]
