"""A goal becomes the cheapest file system that meets it, or is refused with all reasons."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ultracluster.planning.lustre import (
    Checkpoint,
    LustreClients,
    LustreGoal,
    LustreOffer,
    LustreOverrides,
    LustrePlan,
    LustreSpec,
    check_lustre,
    lustre_offer,
    plan_lustre,
)

# From the pages of FSx and EC2, not from the code under test.
TIERS = (125, 250, 500, 1000)
EFA_STEPS = {125: 38_400, 250: 19_200, 500: 9_600, 1000: 4_800}
PRICES = {125: Fraction("0.145"), 250: Fraction("0.21"), 500: Fraction("0.34"), 1000: Fraction("0.60")}
# Type -> Gbit/s over EFA with so many interfaces, and interfaces by default; None: no EFA to FSx.
NODES: dict[str, tuple[int, int] | None] = {
    "p4d.24xlarge": None,
    "p5.4xlarge": (100, 1),
    "p5.48xlarge": (100, 8),
    "p5en.48xlarge": (200, 8),
    "p6-b300.48xlarge": (400, 16),
}
# GiB that brute force looks at: 300 GB/s, the most that a goal asks, are 307,200 GiB of the cheapest tier for it.
LARGEST = 600_000


@dataclass(frozen=True)
class Shape:
    """A PERSISTENT_2 SSD file system, and the arithmetic of the pages."""

    gib: int
    tier: int
    efa: bool

    @property
    def usd(self) -> Fraction:
        return self.gib * PRICES[self.tier]

    @property
    def servers(self) -> int:
        return self.gib // EFA_STEPS[self.tier] if self.efa else -(-self.gib // 2_400)

    def nodes_mb_per_s(self, clients: LustreClients) -> Fraction:
        name = str(clients.instance_type)
        card = NODES[name]
        if self.efa and card is not None and clients.count <= 1024:
            gbps, default = card
            each = min(700, gbps * (clients.efa_interfaces or min(default, 1024 // clients.count)))
        else:
            each = min(100, 5 * self.servers)
        return Fraction(clients.count * each * 1000, 8)

    def meets(self, goal: LustreGoal) -> bool:
        rate = Fraction(self.gib * self.tier, 1024)
        good = rate >= (goal.throughput_mb_per_s or 0) and self.gib >= (goal.capacity_gib or 0)
        if goal.checkpoint is not None:
            size, stall = goal.checkpoint.size_bytes, Fraction(goal.checkpoint.stall_seconds)
            good = good and rate * 10**6 * stall >= size and self.gib * 2**30 >= goal.checkpoint.kept * size
            if goal.clients is not None:
                good = good and self.nodes_mb_per_s(goal.clients) * 10**6 * stall >= size
        return good


def sold() -> Iterator[Shape]:
    for tier in TIERS:
        for gib in (1_200, *range(2_400, LARGEST, 2_400)):
            yield Shape(gib, tier, efa=False)
        for gib in range(EFA_STEPS[tier], LARGEST, EFA_STEPS[tier]):
            yield Shape(gib, tier, efa=True)


SOLD = sorted(sold(), key=lambda shape: (shape.usd, shape.efa))


def planned(goal: LustreGoal, **options: Any) -> LustrePlan | str:
    """The plan, or why there is none."""
    try:
        return plan_lustre(goal, **options)
    except ValueError as error:
        return str(error)


def brute_force(goal: LustreGoal) -> Shape | None:
    """The cheapest that meets it; above 10 GB/s with EFA, where the nodes can use it."""
    efa_works = goal.clients is None or (NODES[str(goal.clients.instance_type)] and goal.clients.count <= 1024)
    stall = Fraction(goal.checkpoint.stall_seconds) if goal.checkpoint else Fraction(1)
    checkpoint = goal.checkpoint.size_bytes / stall if goal.checkpoint else Fraction(0)
    above = max(Fraction((goal.throughput_mb_per_s or 0) * 10**6), checkpoint) > 10_000 * 10**6
    for shape in SOLD:
        if (efa_works or not shape.efa) and (shape.efa or not (above and efa_works)) and shape.meets(goal):
            return shape
    return None


def shape_of(spec: LustreSpec) -> Shape:
    assert spec.capacity_gib is not None
    assert spec.mb_per_s_per_tib is not None
    return Shape(spec.capacity_gib, spec.mb_per_s_per_tib, spec.efa)


nodes = st.builds(LustreClients, instance_type=st.sampled_from(sorted(NODES)), count=st.integers(1, 1200))
checkpoints = st.builds(
    Checkpoint,
    size_bytes=st.integers(1, 6 * 10**12),
    stall_seconds=st.one_of(st.integers(20, 600), st.floats(20, 600)),
    kept=st.integers(1, 12),
)
goals = st.builds(
    LustreGoal,
    throughput_mb_per_s=st.none() | st.integers(1, 100_000),
    checkpoint=st.none() | checkpoints,
    capacity_gib=st.none() | st.integers(0, 300_000),
    clients=st.none() | nodes,
).filter(lambda goal: not goal.problems())


@settings(max_examples=300, deadline=None)
@given(goals)
def test_the_choice_is_the_cheapest_that_meets_the_goal(goal: LustreGoal) -> None:
    best = brute_force(goal)
    plan = planned(goal)
    if best is None or isinstance(plan, str):
        assert best is None
        assert isinstance(plan, str)
        return
    shape = shape_of(plan.spec)
    assert shape in SOLD
    assert shape.meets(goal)
    assert (shape.usd, shape.efa) == (best.usd, best.efa)


@settings(deadline=None)
@given(goals)
def test_what_is_chosen_is_what_the_check_lets_pass(goal: LustreGoal) -> None:
    plan = planned(goal)
    if isinstance(plan, str):
        return
    assert check_lustre(LustreOverrides(**asdict(plan.spec))) == []
    assert plan_lustre(goal, overrides=LustreOverrides(**asdict(plan.spec))).spec == plan.spec


@settings(deadline=None)
@given(
    st.builds(
        LustreGoal,
        checkpoint=st.builds(Checkpoint, size_bytes=st.integers(10**12, 6 * 10**12), stall_seconds=st.integers(5, 40)),
        capacity_gib=st.none() | st.integers(0, 300_000),
        clients=st.builds(LustreClients, instance_type=st.sampled_from(sorted(NODES)), count=st.integers(1, 6)),
    )
)
def test_a_rejected_goal_reports_a_checkpoint_time_that_works(goal: LustreGoal) -> None:
    plan = planned(goal)
    if not isinstance(plan, str):
        return
    seconds = int(plan.partition("allow it ")[2].split()[0].replace(",", ""))
    assert goal.checkpoint is not None
    slower = Checkpoint(size_bytes=goal.checkpoint.size_bytes, stall_seconds=seconds, kept=goal.checkpoint.kept)
    eased = LustreGoal(
        checkpoint=slower,
        clients=goal.clients,
        throughput_mb_per_s=goal.throughput_mb_per_s,
        capacity_gib=goal.capacity_gib,
    )
    assert plan_lustre(eased).times(slower.size_bytes).write_seconds <= seconds


@settings(deadline=None)
@given(goals)
def test_a_checkpoint_is_written_in_the_time_it_is_allowed(goal: LustreGoal) -> None:
    plan = planned(goal)
    assume(goal.checkpoint is not None and not isinstance(plan, str))
    assert goal.checkpoint is not None
    assert not isinstance(plan, str)
    times = plan.times(goal.checkpoint.size_bytes)
    assert times.write_seconds <= goal.checkpoint.stall_seconds * (1 + 1e-12)
    assert times.read_seconds == times.write_seconds


def mostly(good: Sequence[Any], bad: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Good values, and now and then one that FSx refuses or that does not go with others."""
    return st.integers(0, 7).flatmap(lambda n: st.sampled_from(good if n else bad))


FIELDS = {
    "deployment_type": mostly(["PERSISTENT_2", "SCRATCH_2"], ["PERSISTENT_1", "SCRATCH_1"]),
    "storage_type": mostly(["SSD", "INTELLIGENT_TIERING"], ["HDD"]),
    "capacity_gib": mostly([1_200, *range(2_400, 200_000, 2_400)], range(-1, 100_000)),
    "mb_per_s_per_tib": mostly(TIERS, [0, 200, -1]),
    "throughput_capacity_mb_per_s": mostly(range(4_000, 80_000, 4_000), [-4_000, 0, 6_000, 2_000_000, 2_004_000]),
    "efa": st.booleans(),
    "metadata_mode": mostly(["AUTOMATIC", "USER_PROVISIONED"], ["auto"]),
    "metadata_iops": mostly([6_000, 12_000, 24_000, 192_000], [1_500, 204_000, 0, 7_000]),
    "read_cache_mode": st.sampled_from(["NO_CACHE", "USER_PROVISIONED", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", "ALL"]),
    "read_cache_gib": mostly([64, 20_000, 131_072], [0, 31, 32, 63, 131_073]),
    "compression": mostly(["LZ4", "NONE"], ["ZSTD"]),
    "lustre_version": mostly(["2.12", "2.15"], ["2.10", "2.16"]),
}
decisions = st.sets(st.sampled_from(sorted(FIELDS)), max_size=3).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in sorted(names)})
)
any_goal = st.builds(
    LustreGoal,
    throughput_mb_per_s=st.none() | st.integers(1, 30_000),
    capacity_gib=st.none() | st.integers(1, 2_000_000),
    working_set_gib=st.none() | st.integers(1, 200_000),
    checkpoint=mostly([None], [Checkpoint(size_bytes=980 * 10**9, stall_seconds=60)]),
    temporary=st.booleans(),
    associations=mostly([0, 1], [8, 9]),
    backups=mostly([False], [True]),
    clients=st.none() | nodes,
).filter(lambda goal: not goal.problems())
offers = st.builds(
    LustreOffer,
    tiers=mostly([TIERS], [(125, 250), ()]),
    efa=mostly([True], [False]),
    intelligent_tiering=mostly([True], [False]),
    scratch=mostly([True], [False]),
)


def is_sold(spec: LustreSpec) -> bool:
    if spec.storage_type == "INTELLIGENT_TIERING":
        wanted = spec.throughput_capacity_mb_per_s or 0
        steps = wanted // 4_000
        cache = spec.read_cache_gib
        return (
            spec.deployment_type == "PERSISTENT_2"
            and wanted % 4_000 == 0
            and 1 <= steps <= 500
            and (spec.capacity_gib, spec.mb_per_s_per_tib) == (None, None)
            and spec.metadata_mode == "USER_PROVISIONED"
            and spec.metadata_iops in (6_000, 12_000)
            and (cache is not None) == (spec.read_cache_mode == "USER_PROVISIONED")
            and (cache is None or 32 * steps <= cache <= 131_072 * steps)
            and spec.lustre_version == "2.15"
        )
    if spec.deployment_type == "SCRATCH_2":
        bare = (spec.mb_per_s_per_tib, spec.metadata_mode, spec.metadata_iops, spec.efa) == (None, None, None, False)
        return bare and (spec.capacity_gib == 1_200 or (spec.capacity_gib or 0) % 2_400 == 0)
    automatic = spec.metadata_mode == "AUTOMATIC" and spec.metadata_iops is None
    provisioned = spec.metadata_iops in (1_500, 3_000, 6_000, *range(12_000, 192_001, 12_000))
    step = EFA_STEPS[spec.mb_per_s_per_tib or 0] if spec.efa else 2_400
    capacity = spec.capacity_gib or 0
    on_grid = capacity > 0 and (capacity % step == 0 or (capacity == 1_200 and not spec.efa))
    return on_grid and (automatic or provisioned) and spec.lustre_version == "2.15" and spec.read_cache_mode is None


@settings(max_examples=600, deadline=None)
@given(any_goal, offers, decisions)
def test_what_is_decided_is_respected_or_refused_with_a_reason(
    goal: LustreGoal, offer: LustreOffer, decided: dict[str, Any]
) -> None:
    plan = planned(goal, offer=offer, overrides=LustreOverrides(**decided))
    if isinstance(plan, str):
        assert len(plan) > 20
        return
    spec = plan.spec
    assert {name: getattr(spec, name) for name in decided} == decided
    assert is_sold(spec)
    assert spec.disk_write_mb_per_s >= goal.mb_per_s
    assert spec.most_gib >= goal.gib
    assert not (goal.associations and goal.backups)
    assert not (goal.associations and spec.storage_type == "INTELLIGENT_TIERING")
    assert not (goal.backups and spec.deployment_type == "SCRATCH_2")
    assert not (spec.efa and not offer.efa)
    assert spec.mb_per_s_per_tib is None or spec.mb_per_s_per_tib in offer.tiers
    assert all(reason and "\n" not in reason and "None" not in reason for reason in plan.reasons)


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_field_can_be_decided(field: str) -> None:
    """One good value of each, on a goal whose own choice is another."""
    good: dict[str, tuple[LustreGoal, Any]] = {
        "deployment_type": (LustreGoal(throughput_mb_per_s=1_000), "SCRATCH_2"),
        "storage_type": (LustreGoal(throughput_mb_per_s=1_000), "INTELLIGENT_TIERING"),
        "capacity_gib": (LustreGoal(throughput_mb_per_s=1_000), 24_000),
        "mb_per_s_per_tib": (LustreGoal(throughput_mb_per_s=100), 1000),
        "throughput_capacity_mb_per_s": (LustreGoal(throughput_mb_per_s=1_000), 12_000),
        "efa": (LustreGoal(throughput_mb_per_s=1_000), True),
        "metadata_mode": (LustreGoal(capacity_gib=600_000, working_set_gib=1), "USER_PROVISIONED"),
        "metadata_iops": (LustreGoal(throughput_mb_per_s=1_000), 24_000),
        "read_cache_mode": (LustreGoal(capacity_gib=600_000, working_set_gib=1), "NO_CACHE"),
        "read_cache_gib": (LustreGoal(capacity_gib=600_000, working_set_gib=1), 131_072),
        "compression": (LustreGoal(throughput_mb_per_s=1_000), "NONE"),
        "lustre_version": (LustreGoal(throughput_mb_per_s=1, capacity_gib=9_600, temporary=True), "2.12"),
    }
    goal, value = good[field]
    assert field == "metadata_mode" or getattr(plan_lustre(goal).spec, field) != value
    decided: dict[str, Any] = {field: value}
    assert getattr(plan_lustre(goal, overrides=LustreOverrides(**decided)).spec, field) == value


@pytest.mark.parametrize(("mb_per_s", "efa"), [(10_000, False), (10_001, True)])
def test_efa_begins_above_10_gb_per_second(mb_per_s: int, efa: bool) -> None:
    assert plan_lustre(LustreGoal(throughput_mb_per_s=mb_per_s)).spec.efa is efa
    checkpoint = Checkpoint(size_bytes=mb_per_s * 10**6 * 30, stall_seconds=30)
    assert plan_lustre(LustreGoal(checkpoint=checkpoint)).spec.efa is efa


def test_the_price_is_without_metadata_iops_that_are_billed() -> None:
    for iops, text in ((12_000, "12,000 metadata IOPS, as requested"), (192_000, "those beyond 12,000 are billed")):
        decided = LustreOverrides(capacity_gib=38_400, mb_per_s_per_tib=125, metadata_iops=iops)
        (reason,) = (
            reason
            for reason in plan_lustre(LustreGoal(throughput_mb_per_s=1_000), overrides=decided).reasons
            if "metadata IOPS" in reason
        )
        assert text in reason
        assert ("not in this price" in reason) == (iops > 12_000)


def test_a_capacity_without_an_efa_step_disables_efa_with_a_reason() -> None:
    plan = plan_lustre(LustreGoal(throughput_mb_per_s=40_000), overrides=LustreOverrides(capacity_gib=50_400))
    assert (plan.spec.efa, plan.spec.capacity_gib) == (False, 50_400)
    assert "without EFA, though 40,000 MB/s is more than the 10,000" in plan.reasons[1]


def test_a_few_nodes_over_tcp_get_more_servers_for_each_gets_5_gbit_per_second_of_each() -> None:
    """5,000 MB/s from two nodes are 20 Gbit/s each, so four servers, 9,600 GiB; 5,120 GiB would be fast enough."""
    checkpoint = Checkpoint(size_bytes=5 * 10**9, stall_seconds=1)
    alone = LustreGoal(checkpoint=checkpoint)
    assert plan_lustre(alone, overrides=LustreOverrides(mb_per_s_per_tib=1000)).spec.capacity_gib == 7_200
    clients = LustreClients(instance_type="p4d.24xlarge", count=2)
    two = LustreGoal(checkpoint=checkpoint, clients=clients)
    spec = plan_lustre(two, overrides=LustreOverrides(mb_per_s_per_tib=1000)).spec
    assert (spec.capacity_gib, spec.storage_servers) == (9_600, 4)


def test_a_single_fast_node_gets_efa_below_10_gb_per_second_when_tcp_would_cost_more() -> None:
    """9 GB/s are 72 Gbit/s: over TCP 15 servers, over EFA two."""
    goal = LustreGoal(
        checkpoint=Checkpoint(size_bytes=9 * 10**9, stall_seconds=1),
        clients=LustreClients(instance_type="p5en.48xlarge", count=1),
    )
    plan = plan_lustre(goal)
    assert plan.spec.efa
    assert "with EFA: over TCP the nodes would be too slow, or need a larger file system" in plan.reasons


def test_a_throughput_is_the_file_systems_own_whatever_todays_nodes_can_take() -> None:
    goal = LustreGoal(throughput_mb_per_s=40_000, clients=LustreClients(instance_type="p4d.24xlarge", count=1))
    plan = plan_lustre(goal, overrides=LustreOverrides(efa=True))
    assert (plan.spec.capacity_gib, plan.spec.efa) == (43_200, True)
    assert "1 p4d.24xlarge move 5,625 MB/s at most over TCP" in plan.reasons


@pytest.mark.parametrize(
    ("goal", "offer", "deployment", "storage", "why"),
    [
        ({"throughput_mb_per_s": 9}, {}, "PERSISTENT_2", "SSD", "it is durable"),
        (
            {"capacity_gib": 600_000, "working_set_gib": 50_000},
            {},
            "PERSISTENT_2",
            "INTELLIGENT_TIERING",
            "only 50,000",
        ),
        ({"capacity_gib": 60_000, "working_set_gib": 60_000}, {}, "PERSISTENT_2", "SSD", "it is durable"),
        (
            {"capacity_gib": 600_000, "working_set_gib": 9, "associations": 1},
            {},
            "PERSISTENT_2",
            "SSD",
            "does not support data rep",
        ),
        (
            {"capacity_gib": 600_000, "working_set_gib": 9},
            {"intelligent_tiering": False},
            "PERSISTENT_2",
            "SSD",
            "FSx does not offer Intelligent-Tiering here",
        ),
        ({"capacity_gib": 50_000, "temporary": True}, {}, "SCRATCH_2", "SSD", "PERSISTENT_2 would need no fewer GiB"),
        ({"throughput_mb_per_s": 30_000, "temporary": True}, {}, "PERSISTENT_2", "SSD", "fewer GiB than SCRATCH_2"),
        ({"capacity_gib": 9, "temporary": True, "backups": True}, {}, "PERSISTENT_2", "SSD", "it is durable"),
        ({"capacity_gib": 9, "temporary": True}, {"scratch": False}, "PERSISTENT_2", "SSD", "does not offer SCRATCH_2"),
        ({"capacity_gib": 9, "temporary": True}, {"tiers": (), "efa": False}, "SCRATCH_2", "SSD", "may be lost"),
    ],
)
def test_the_deployment_type_follows_from_what_the_data_is(
    goal: dict[str, Any], offer: dict[str, Any], deployment: str, storage: str, why: str
) -> None:
    plan = plan_lustre(LustreGoal(**goal), offer=LustreOffer(**offer))
    assert (plan.spec.deployment_type, plan.spec.storage_type) == (deployment, storage)
    assert why in plan.reasons[0]


@pytest.mark.parametrize(
    ("goal", "steps"),
    [
        (LustreGoal(throughput_mb_per_s=4_000), 1),
        (LustreGoal(throughput_mb_per_s=4_001), 2),
        (LustreGoal(capacity_gib=512 * 1024), 1),
        (LustreGoal(capacity_gib=512 * 1024 + 1), 2),
        (LustreGoal(capacity_gib=500_000, working_set_gib=131_072), 1),
        (LustreGoal(capacity_gib=500_000, working_set_gib=131_073), 2),
    ],
)
def test_intelligent_tiering_takes_the_fewest_steps_for_throughput_data_and_cache(goal: LustreGoal, steps: int) -> None:
    spec = plan_lustre(goal, overrides=LustreOverrides(storage_type="INTELLIGENT_TIERING")).spec
    assert spec.throughput_capacity_mb_per_s == 4_000 * steps
    assert spec.storage_servers == steps


def test_intelligent_tiering_ends_at_two_million_mb_per_s() -> None:
    overrides = LustreOverrides(storage_type="INTELLIGENT_TIERING")
    assert plan_lustre(LustreGoal(throughput_mb_per_s=2_000_000), overrides=overrides).spec.storage_servers == 500
    with pytest.raises(ValueError, match="up to 2,000,000"):
        plan_lustre(LustreGoal(throughput_mb_per_s=2_000_001), overrides=overrides)


def test_a_capacity_that_is_too_slow_is_reported_with_a_sufficient_size() -> None:
    with pytest.raises(ValueError, match=r"4,800 GiB .* 4,687 MB/s, and 40,000 are requested; 43,200 GiB .* would do"):
        plan_lustre(LustreGoal(throughput_mb_per_s=40_000), overrides=LustreOverrides(capacity_gib=4_800))


def test_reports_all_errors_at_once() -> None:
    goal = LustreGoal(
        throughput_mb_per_s=0,
        capacity_gib=-1,
        checkpoint=Checkpoint(size_bytes=0, stall_seconds=0, kept=0),
        clients=LustreClients(instance_type="p9.large", count=0),
        associations=9,
        backups=True,
    )
    overrides = LustreOverrides(
        deployment_type="PERSISTENT_1",
        efa=True,
        capacity_gib=5_000,
        mb_per_s_per_tib=200,
        compression="ZSTD",
        lustre_version="2.10",
    )
    with pytest.raises(ValueError, match="PERSISTENT_1") as caught:
        plan_lustre(goal, overrides=overrides)
    for word in (
        "at least 1 MB/s, got 0",
        "got -1 GiB",
        "at least 1 byte",
        "more than 0 seconds",
        "at least 1 checkpoint",
        "at least one node, got 0",
        "p9.large",
        "PERSISTENT_1 does not support EFA",
        "got 200",
        "5,000 GiB",
        "got ZSTD",
        "Lustre 2.10",
        "got 9: 1 fewer",
        "does not support backups",
    ):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("mec1-az1", "FSx does not offer PERSISTENT_2 here; use SCRATCH_2"),
        ("usw2-lax1-az1", "FSx does not offer PERSISTENT_2 here; use SCRATCH_2"),
        ("use1-bos1-az1", "FSx does not offer PERSISTENT_2 here; use another zone"),
    ],
)
def test_where_persistent_2_is_not_sold_it_is_refused(zone: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_lustre(LustreGoal(throughput_mb_per_s=1), offer=lustre_offer(zone))


def quotas(plan: LustrePlan) -> list[str]:
    return [quota.code for quota in plan.quotas_passed]


def test_a_quota_is_passed_above_its_default_and_not_at_it() -> None:
    at = plan_lustre(LustreGoal(throughput_mb_per_s=98_437))
    above = plan_lustre(LustreGoal(throughput_mb_per_s=98_438))
    assert (at.spec.capacity_gib, quotas(at)) == (100_800, [])
    assert (above.spec.capacity_gib, quotas(above)) == (105_600, ["L-8F1B9C74"])
    assert any("L-8F1B9C74" in reason and "105,600 GiB" in reason for reason in above.reasons)
    tiering = [
        plan_lustre(LustreGoal(throughput_mb_per_s=n), overrides=LustreOverrides(read_cache_mode=mode))
        for n, mode in [
            (100_000, "NO_CACHE"),
            (100_001, "NO_CACHE"),
            (20_000, "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"),
            (20_001, "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"),
        ]
    ]
    assert [quotas(plan) for plan in tiering] == [[], ["L-0CD18A5D"], [], ["L-B7391FCE"]]
    scratch = LustreOverrides(deployment_type="SCRATCH_2")
    assert quotas(plan_lustre(LustreGoal(capacity_gib=100_801), overrides=scratch)) == ["L-AD2FC696"]
