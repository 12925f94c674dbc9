from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.planning import LustreSize, check_capacity, lustre_offer, size_lustre

TIERS = (125, 250, 500, 1000)
# From the pages of FSx, not from the code under test.
EFA_STEPS = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}
PRICES = {125: Fraction("0.145"), 250: Fraction("0.21"), 500: Fraction("0.34"), 1000: Fraction("0.60")}

throughputs = st.integers(1, 2_000_000)
capacities = st.integers(0, 5_000_000)


def sold(capacity_gib: int, tier: int, efa: bool) -> bool:
    if efa:
        return capacity_gib > 0 and capacity_gib % EFA_STEPS[tier] == 0
    return capacity_gib == 1_200 or (capacity_gib > 0 and capacity_gib % 2_400 == 0)


def price(size: LustreSize) -> Fraction:
    return size.capacity_gib * PRICES[size.mb_per_s_per_tib]


def test_40_gb_per_second_take_43200_gib_of_the_fastest_tier_with_efa() -> None:
    size = size_lustre(throughput_mb_per_s=40_000)
    assert (size.capacity_gib, size.mb_per_s_per_tib, size.efa) == (43_200, 1000, True)
    assert (size.storage_servers, size.metadata_servers, size.addresses) == (9, 1, 10)
    assert size.throughput_mb_per_s == 42_187
    assert size.usd_per_month == 25_920


@given(throughputs, capacities, st.sampled_from([None, True, False]), st.sampled_from([None, *TIERS]))
def test_what_is_bought_gives_what_was_asked_and_is_sold(
    throughput: int, capacity: int, efa: bool | None, tier: int | None
) -> None:
    size = size_lustre(throughput_mb_per_s=throughput, capacity_gib=capacity, efa=efa, tier=tier)
    assert sold(size.capacity_gib, size.mb_per_s_per_tib, size.efa)
    assert size.capacity_gib * size.mb_per_s_per_tib >= throughput * 1024
    assert size.capacity_gib >= capacity
    assert size.throughput_mb_per_s >= throughput
    assert efa is None or size.efa == efa
    assert tier is None or size.mb_per_s_per_tib == tier
    assert size.addresses >= 2
    assert len(size.reasons) >= 3
    assert all("\n" not in reason for reason in size.reasons)


@given(throughputs, capacities, st.booleans())
def test_nothing_that_is_sold_does_it_for_less(throughput: int, capacity: int, efa: bool) -> None:
    best = size_lustre(throughput_mb_per_s=throughput, capacity_gib=capacity, efa=efa)
    for tier in TIERS:
        other = size_lustre(throughput_mb_per_s=throughput, capacity_gib=capacity, efa=efa, tier=tier)
        assert price(other) >= price(best)
        # One step less would not do.
        less = other.capacity_gib - (EFA_STEPS[tier] if efa else 2_400)
        enough = less >= capacity and less * tier >= throughput * 1024
        assert not (enough and less > 0 and sold(less, tier, efa))


@given(throughputs, st.integers(1, 500_000), capacities, st.sampled_from(TIERS), st.booleans())
def test_more_throughput_never_means_less_capacity(
    throughput: int, more: int, capacity: int, tier: int, efa: bool
) -> None:
    small = size_lustre(throughput_mb_per_s=throughput, capacity_gib=capacity, tier=tier, efa=efa)
    large = size_lustre(throughput_mb_per_s=throughput + more, capacity_gib=capacity, tier=tier, efa=efa)
    assert large.capacity_gib >= small.capacity_gib
    assert price(size_lustre(throughput_mb_per_s=throughput + more, capacity_gib=capacity, efa=efa)) >= price(
        size_lustre(throughput_mb_per_s=throughput, capacity_gib=capacity, efa=efa)
    )


@pytest.mark.parametrize(("throughput", "servers"), [(4_687, 1), (4_688, 2), (9_375, 2), (9_376, 3)])
def test_a_server_with_efa_gives_4687_and_a_half_mb_per_second(throughput: int, servers: int) -> None:
    for tier in TIERS:
        size = size_lustre(throughput_mb_per_s=throughput, tier=tier, efa=True)
        assert size.storage_servers == servers


@pytest.mark.parametrize(("throughput", "efa"), [(10_000, False), (10_001, True)])
def test_efa_begins_above_10_gb_per_second(throughput: int, efa: bool) -> None:
    assert size_lustre(throughput_mb_per_s=throughput).efa is efa


def test_no_efa_where_nobody_could_use_it() -> None:
    size = size_lustre(throughput_mb_per_s=40_000, efa_offered=False)
    assert not size.efa
    assert "without EFA: no node can use it, or FSx does not sell it here" in size.reasons


def test_large_and_slow_takes_a_slow_tier() -> None:
    assert size_lustre(throughput_mb_per_s=1_000, capacity_gib=100_000).mb_per_s_per_tib == 125
    assert size_lustre(throughput_mb_per_s=20_000, capacity_gib=80_000).mb_per_s_per_tib == 250


@pytest.mark.parametrize(("capacity", "servers"), [(45_600, 1), (48_000, 2), (50_400, 3), (96_000, 4)])
def test_metadata_servers_grow_from_twice_their_unit_on(capacity: int, servers: int) -> None:
    """12,000 IOPS are included up to 45,600 GiB, then 12,000 for each 24,000 GiB."""
    size = size_lustre(throughput_mb_per_s=1, capacity_gib=capacity, efa=False, tier=125)
    assert size.capacity_gib == capacity
    assert size.metadata_servers == servers


def test_the_smallest_file_system_has_1200_gib() -> None:
    size = size_lustre(throughput_mb_per_s=1)
    assert (size.capacity_gib, size.mb_per_s_per_tib, size.throughput_mb_per_s) == (1_200, 125, 146)


def test_reasons_carry_the_figures() -> None:
    reasons = "; ".join(size_lustre(throughput_mb_per_s=40_000, capacity_gib=40_000).reasons)
    for figure in ("40,000 MB/s", "10,000 MB/s", "43,200 GiB", "42,187 MB/s", "4,687.5", "$25,920", "$29,376"):
        assert figure in reasons


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"throughput_mb_per_s": 0}, "throughput must be at least 1 MB/s, got 0"),
        ({"throughput_mb_per_s": -5}, "got -5"),
        ({"throughput_mb_per_s": 1, "capacity_gib": -1}, "capacity can't be negative"),
        ({"throughput_mb_per_s": 1, "tier": 300}, "tier must be one of 125, 250, 500, 1000 MB/s/TiB, got 300"),
        ({"throughput_mb_per_s": 1, "tier": 0}, "got 0"),
        ({"throughput_mb_per_s": 1, "tier": 1000, "tiers_offered": (125, 250)}, "one of 125, 250 MB/s/TiB, got 1000"),
        ({"throughput_mb_per_s": 0, "capacity_gib": -1, "tier": 7}, "throughput.*; .*capacity.*; .*tier"),
    ],
)
def test_rejects_what_fsx_can_not_sell(options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        size_lustre(**options)  # type: ignore[arg-type]


@given(st.integers(1, 2_000_000), st.sampled_from(TIERS), st.booleans())
def test_a_capacity_is_right_or_told_its_neighbours(capacity: int, tier: int, efa: bool) -> None:
    problems = check_capacity(capacity, tier=tier, efa=efa)
    assert (problems == []) == sold(capacity, tier, efa)
    for problem in problems:
        told = [int(word.replace(",", "")) for word in problem.rpartition("size")[2].split() if word[0].isdigit()]
        assert 1 <= len(told) <= 2
        assert all(sold(size, tier, efa) for size in told)
        assert told[-1] > capacity
        assert len(told) == 1 or told[0] < capacity


@pytest.mark.parametrize(
    ("zone", "tiers", "efa"),
    [
        ("use2-az1", TIERS, True),
        ("use1-dfw2-az1", (125, 250), False),
        ("ilc1-az1", (125, 250), False),
        ("mxc1-az2", (125, 250), False),
    ],
)
def test_small_places_sell_less(zone: str, tiers: tuple[int, ...], efa: bool) -> None:
    offer = lustre_offer(zone)
    assert (offer.tiers, offer.efa) == (tiers, efa)
