import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.planning.lustre import check_capacity, lustre_offer

TIERS = (125, 250, 500, 1000)
# From the pages of FSx, not from the code under test.
EFA_STEPS = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}


def sold(capacity_gib: int, tier: int, efa: bool) -> bool:
    if efa:
        return capacity_gib > 0 and capacity_gib % EFA_STEPS[tier] == 0
    return capacity_gib == 1_200 or (capacity_gib > 0 and capacity_gib % 2_400 == 0)


@given(st.integers(1, 2_000_000), st.sampled_from(TIERS), st.booleans())
def test_a_capacity_is_valid_or_reported_with_its_neighbours(capacity: int, tier: int, efa: bool) -> None:
    problems = check_capacity(capacity, tier=tier, efa=efa)
    assert (problems == []) == sold(capacity, tier, efa)
    for problem in problems:
        sizes = [int(word.replace(",", "")) for word in problem.rpartition("size")[2].split() if word[0].isdigit()]
        assert 1 <= len(sizes) <= 2
        assert all(sold(size, tier, efa) for size in sizes)
        assert sizes[-1] > capacity
        assert len(sizes) == 1 or sizes[0] < capacity


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
