"""Sizes of checkpoints, and what limits their duration."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.planning.lustre import (
    Checkpoint,
    LustreClients,
    LustreGoal,
    LustreOverrides,
    LustreSpec,
    checkpoint_bytes,
    checkpoint_times,
    plan_lustre,
)

FAST = LustreSpec(
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    capacity_gib=100_800,
    mb_per_s_per_tib=1000,
    efa=True,
    metadata_mode="AUTOMATIC",
)


@pytest.mark.parametrize(
    ("parameters", "each", "size"),
    [
        (70e9, 14, 980 * 10**9),
        (405_000_000_000, 12, 4_860 * 10**9),
        (7e9, 16, 112 * 10**9),
        (3, 0.5, 2),
        (1, 1, 1),
    ],
)
def test_a_checkpoint_is_its_parameters_times_their_bytes(parameters: float, each: float, size: int) -> None:
    assert checkpoint_bytes(parameters, bytes_per_parameter=each) == size


def test_a_parameter_takes_14_bytes_by_default() -> None:
    """2 of weights, 4 of fp32 weights, 4 and 4 of Adam's moments."""
    assert checkpoint_bytes(10**9) == (2 + 4 + 4 + 4) * 10**9


@pytest.mark.parametrize("wrong", [0, -1, float("inf"), float("nan")])
def test_rejects_a_model_of_nothing(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"must have parameters.*; a parameter must take more"):
        checkpoint_bytes(wrong, bytes_per_parameter=wrong)


def test_a_checkpoint_reports_all_errors() -> None:
    assert len(Checkpoint(size_bytes=0, stall_seconds=float("nan"), kept=0).problems()) == 3
    assert Checkpoint(size_bytes=1, stall_seconds=0.001, kept=1).problems() == []


@pytest.mark.parametrize(
    ("clients", "efa", "servers", "gbps"),
    [
        (LustreClients(instance_type="p5en.48xlarge", count=1), True, 1, 700),
        (LustreClients(instance_type="p5en.48xlarge", count=1, gpudirect_storage=True), True, 1, 1200),
        (LustreClients(instance_type="p5.48xlarge", count=1, gpudirect_storage=True), True, 1, 800),
        (LustreClients(instance_type="p5en.48xlarge", count=1, efa_interfaces=2), True, 1, 400),
        (LustreClients(instance_type="p5en.48xlarge", count=128), True, 1, 700),
        (LustreClients(instance_type="p5en.48xlarge", count=512), True, 1, 400),
        (LustreClients(instance_type="p5en.48xlarge", count=1024), True, 1, 200),
        (LustreClients(instance_type="p5en.48xlarge", count=1025), True, 20, 100),
        (LustreClients(instance_type="p5.4xlarge", count=1), True, 1, 100),
        (LustreClients(instance_type="p6-b300.48xlarge", count=64), True, 1, 700),
        (LustreClients(instance_type="p4d.24xlarge", count=1), True, 20, 100),
        (LustreClients(instance_type="p5en.48xlarge", count=1), False, 1, 5),
        (LustreClients(instance_type="p5en.48xlarge", count=1), False, 19, 95),
        (LustreClients(instance_type="p5en.48xlarge", count=1), False, 20, 100),
        (LustreClients(instance_type="p5en.48xlarge", count=1), False, 21, 100),
    ],
)
def test_a_node_moves_what_fsx_and_its_own_cards_let_it(
    clients: LustreClients, efa: bool, servers: int, gbps: int
) -> None:
    assert clients.gbps(efa=efa, storage_servers=servers) == gbps
    assert clients.mb_per_s(efa=efa, storage_servers=servers) == clients.count * gbps * 125


@settings(deadline=None)
@given(st.sampled_from(sorted(INSTANCE_TYPES)), st.integers(1, 1500), st.booleans(), st.integers(1, 4_000_000))
def test_the_fewest_servers_for_a_rate_are_enough_and_one_fewer_is_not(
    name: str, count: int, efa: bool, mb_per_s: int
) -> None:
    clients = LustreClients(instance_type=name, count=count)
    servers = clients.servers_for(Fraction(mb_per_s), efa=efa)
    if servers is None:
        assert clients.mb_per_s(efa=efa, storage_servers=10**6) < mb_per_s
        return
    assert clients.mb_per_s(efa=efa, storage_servers=servers) >= mb_per_s
    assert servers == 1 or clients.mb_per_s(efa=efa, storage_servers=servers - 1) < mb_per_s


@pytest.mark.parametrize(
    ("clients", "problems"),
    [
        (LustreClients(instance_type="p5en.48xlarge", count=1, efa_interfaces=16), []),
        (LustreClients(instance_type="p5en.48xlarge", count=0), ["there must be at least one node, got 0"]),
        (
            LustreClients(instance_type="p5en.48xlarge", count=1, efa_interfaces=17),
            ["p5en.48xlarge has 1 to 16 EFA interfaces, got 17"],
        ),
        (
            LustreClients(instance_type="p4d.24xlarge", count=0, efa_interfaces=1, gpudirect_storage=True),
            [
                "there must be at least one node, got 0",
                "p4d.24xlarge does not reach FSx over EFA; leave efa_interfaces out",
                "FSx supports no GPUDirect Storage on p4d.24xlarge; leave gpudirect_storage out",
            ],
        ),
    ],
)
def test_rejects_nodes_that_cannot_reach_the_goal(clients: LustreClients, problems: list[str]) -> None:
    assert clients.problems() == problems


def test_the_slower_of_file_system_and_nodes_counts_and_is_named() -> None:
    """98,437.5 MB/s of the file system; a node over EFA has 87,500, two have 175,000."""
    size = 98_437_500_000
    alone = checkpoint_times(size, FAST)
    assert (alone.write_seconds, alone.write_limit, alone.nodes_mb_per_s) == (1.0, "file system", None)
    single = checkpoint_times(size, FAST, LustreClients(instance_type="p5en.48xlarge", count=1))
    assert (single.write_seconds, single.write_limit, single.read_limit) == (1.125, "nodes", "nodes")
    two = checkpoint_times(size, FAST, LustreClients(instance_type="p5en.48xlarge", count=2))
    assert (two.write_seconds, two.write_limit, two.nodes_mb_per_s) == (1.0, "file system", Fraction(175_000))


def test_scratch_reads_a_checkpoint_back_twice_as_fast_as_it_writes_it() -> None:
    plan = plan_lustre(LustreGoal(capacity_gib=1), overrides=LustreOverrides(deployment_type="SCRATCH_2"))
    times = plan.times(10**12)
    assert times.write_seconds == 2 * times.read_seconds


@settings(deadline=None)
@given(st.integers(1, 10**13), st.integers(1, 600), st.integers(1, 20))
def test_the_file_system_holds_all_checkpoints_that_are_kept(size: int, seconds: int, kept: int) -> None:
    goal = LustreGoal(checkpoint=Checkpoint(size_bytes=size, stall_seconds=seconds, kept=kept))
    plan = plan_lustre(goal)
    assert plan.spec.most_gib * 2**30 >= kept * size
    assert plan.times(size).write_seconds <= seconds * (1 + 1e-12)
