"""Offline checks of FSx for Lustre settings: all errors at once, each with a remedy."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracluster.planning.lustre import LustreClients, LustreOffer, LustreOverrides, check_capacity, check_lustre

IT = {"storage_type": "INTELLIGENT_TIERING"}


def problems(**stated: Any) -> Sequence[str]:
    return check_lustre(LustreOverrides(**stated))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"deployment_type": "PERSISTENT_1"}, "PERSISTENT_1 supports neither EFA nor a metadata configuration"),
        ({"deployment_type": "SCRATCH_1"}, "must be one of PERSISTENT_2, SCRATCH_2, got SCRATCH_1"),
        ({"storage_type": "HDD"}, "HDD is offered as PERSISTENT_1 only"),
        ({"storage_type": "TAPE"}, "must be one of SSD, INTELLIGENT_TIERING, got TAPE"),
        ({"deployment_type": "SCRATCH_2", **IT}, "SCRATCH_2 is offered on SSD only"),
        ({"deployment_type": "SCRATCH_2", "efa": True}, "SCRATCH_2 does not support EFA"),
        ({"deployment_type": "SCRATCH_2", "mb_per_s_per_tib": 125}, "SCRATCH_2 has one tier"),
        (
            {"deployment_type": "SCRATCH_2", "metadata_mode": "AUTOMATIC"},
            "SCRATCH_2 does not support a metadata configuration",
        ),
        ({"deployment_type": "SCRATCH_2", "capacity_gib": 3_600}, "the next sizes are 2,400 GiB and 4,800 GiB"),
        ({**IT, "capacity_gib": 1_200}, "accepts no capacity, got 1,200 GiB"),
        ({**IT, "mb_per_s_per_tib": 125}, "a throughput capacity and no tier"),
        ({**IT, "metadata_mode": "AUTOMATIC"}, "no metadata mode AUTOMATIC"),
        ({**IT, "metadata_iops": 24_000}, "does not support 24,000 metadata IOPS; the next number is 12,000"),
        ({**IT, "metadata_iops": 3_000}, "the next number is 6,000"),
        ({"throughput_capacity_mb_per_s": 5_000}, "the next steps are 4,000 MB/s and 8,000 MB/s"),
        ({"throughput_capacity_mb_per_s": 0}, "the next step is 4,000 MB/s"),
        (
            {"throughput_capacity_mb_per_s": 2_004_000},
            "got 2,004,000; the next step is 2,000,000 MB/s",
        ),
        ({"read_cache_mode": "AUTO"}, "one of NO_CACHE, USER_PROVISIONED, PROPORTIONAL_TO_THROUGHPUT_CAPACITY"),
        ({"read_cache_mode": "NO_CACHE", "read_cache_gib": 64}, "a read cache of NO_CACHE accepts no size, got 64 GiB"),
        ({"read_cache_mode": "USER_PROVISIONED"}, "needs its size in GiB"),
        ({"throughput_capacity_mb_per_s": 8_000, "read_cache_gib": 63}, "64 to 262,144 GiB at 8,000 MB/s, got 63"),
        ({"read_cache_gib": 31}, "must have 32 to 65,536,000 GiB, got 31"),
        ({"storage_type": "SSD", "read_cache_gib": 64}, "SSD has no read cache"),
        ({"storage_type": "SSD", "throughput_capacity_mb_per_s": 4_000}, "SSD has a tier and no throughput capacity"),
        ({"metadata_mode": "NONE"}, "must be one of AUTOMATIC, USER_PROVISIONED, got NONE"),
        ({"metadata_mode": "AUTOMATIC", "metadata_iops": 1_500}, "AUTOMATIC accepts no IOPS, got 1,500"),
        ({"metadata_mode": "USER_PROVISIONED"}, "USER_PROVISIONED needs its IOPS"),
        (
            {"metadata_iops": 13_000},
            "SSD does not support 13,000 metadata IOPS; the next numbers are 12,000 and 24,000",
        ),
        ({"metadata_iops": 204_000}, "the next number is 192,000"),
        (
            {"metadata_iops": 1_500, "capacity_gib": 2_400},
            "include 3,000 metadata IOPS, and FSx accepts no fewer",
        ),
        ({"compression": "ZSTD"}, "must be one of NONE, LZ4, got ZSTD"),
        ({"lustre_version": "2.10"}, "clients of AL2023 and Ubuntu 24.04 can't mount Lustre 2.10; use 2.15"),
        ({"lustre_version": "3"}, "must be one of 2.12, 2.15, got 3"),
        ({"deployment_type": "PERSISTENT_2", "lustre_version": "2.12"}, "requires Lustre 2.15, got 2.12"),
    ],
)
def test_rejects_what_fsx_does_not_sell(stated: dict[str, Any], message: str) -> None:
    (problem,) = problems(**stated)
    assert message in problem


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"deployment_type": "SCRATCH_2", "capacity_gib": 1_200, "lustre_version": "2.12"},
        {"capacity_gib": 2_400, "metadata_iops": 3_000},
        {"capacity_gib": 480_000, "metadata_iops": 192_000},
        {"metadata_iops": 192_000},
        {"mb_per_s_per_tib": 1000, "efa": True, "capacity_gib": 4_800},
        {"efa": True, "capacity_gib": 9_600},
        {**IT, "throughput_capacity_mb_per_s": 2_000_000, "metadata_iops": 12_000, "efa": True},
        {"throughput_capacity_mb_per_s": 8_000, "read_cache_gib": 64},
        {"throughput_capacity_mb_per_s": 8_000, "read_cache_gib": 262_144},
    ],
)
def test_what_fsx_sells_passes(stated: dict[str, Any]) -> None:
    assert problems(**stated) == []


def test_efa_on_persistent_1_off_the_grid_with_links_and_backups_is_five_problems_at_once() -> None:
    errors = check_lustre(
        LustreOverrides(deployment_type="PERSISTENT_1", efa=True, capacity_gib=5_000, mb_per_s_per_tib=200),
        associations=1,
        backups=True,
    )
    assert [next(word for word in words if word in problem) for problem, words in zip(
        errors,
        [["neither EFA"], ["got 200"], ["5,000 GiB"], ["does not support EFA"], ["does not support backups"]],
        strict=True,
    )]  # fmt: skip


@pytest.mark.parametrize(
    ("associations", "backups", "stated", "message"),
    [
        (8, False, {}, None),
        (9, False, {}, "supports 8 data repository associations, got 9: 1 fewer"),
        (1, True, {}, "a file system with data repository associations does not support backups"),
        (1, False, IT, "Intelligent-Tiering does not support data repository associations"),
        (
            1,
            False,
            {"throughput_capacity_mb_per_s": 4_000},
            "Intelligent-Tiering does not support data repository associations",
        ),
        (1, False, {"deployment_type": "SCRATCH_2"}, None),
        (0, True, {"deployment_type": "SCRATCH_2"}, "SCRATCH_2 does not support backups"),
        (0, True, IT, None),
        (0, True, {}, None),
    ],
)
def test_links_to_s3_and_backups(associations: int, backups: bool, stated: dict[str, Any], message: str | None) -> None:
    errors = check_lustre(LustreOverrides(**stated), associations=associations, backups=backups)
    assert len(errors) == (message is not None)
    assert message is None or message in errors[0]


@pytest.mark.parametrize(
    ("offer", "stated", "message"),
    [
        (
            {"tiers": (125, 250)},
            {"mb_per_s_per_tib": 500},
            "125, 250 MB/s/TiB, got 500: FSx offers no other here",
        ),
        ({"tiers": (125, 250)}, {"mb_per_s_per_tib": 250}, None),
        ({"tiers": ()}, {"mb_per_s_per_tib": 250}, "FSx does not offer PERSISTENT_2 here, and so no tier"),
        ({"tiers": ()}, {"deployment_type": "PERSISTENT_2"}, "FSx does not offer PERSISTENT_2 here; use SCRATCH_2"),
        ({"efa": False}, {"efa": True}, "does not support EFA here"),
        ({"efa": False}, {"efa": False}, None),
        ({"intelligent_tiering": False}, IT, "does not offer Intelligent-Tiering here"),
        ({"scratch": False}, {"deployment_type": "SCRATCH_2"}, "does not offer SCRATCH_2 here"),
    ],
)
def test_a_place_sells_what_it_sells(offer: dict[str, Any], stated: dict[str, Any], message: str | None) -> None:
    errors = check_lustre(LustreOverrides(**stated), offer=LustreOffer(**offer))
    assert len(errors) == (message is not None)
    assert message is None or message in errors[0]


@pytest.mark.parametrize(
    ("nodes", "interfaces", "message"),
    [
        (128, 8, None),
        (129, 8, "129 nodes with 8 EFA interfaces each open 1,032 .* use 7 EFA interfaces .* 8 or 128 nodes, 1 fewer"),
        (64, 16, None),
        (65, 16, "65 nodes with 16 EFA interfaces each open 1,040 .* use 15 EFA .* 16 or 64 nodes, 1 fewer"),
        (1024, 1, None),
        (1025, 1, "1,025 nodes with 1 EFA interface each open 1,025 .* supports 1,024: use 1,024 nodes, 1 fewer"),
        (1024, None, None),
        (1025, None, "use 1,024 nodes, 1 fewer, or go without EFA"),
    ],
)
def test_a_file_system_takes_1024_efa_connections(nodes: int, interfaces: int | None, message: str | None) -> None:
    clients = LustreClients(instance_type="p6-b300.48xlarge", count=nodes, efa_interfaces=interfaces)
    errors = check_lustre(LustreOverrides(efa=True), clients=clients)
    assert len(errors) == (message is not None)
    if message:
        with pytest.raises(ValueError, match=message):
            raise ValueError(errors[0])
    assert check_lustre(LustreOverrides(efa=False), clients=clients) == []


@settings(deadline=None)
@given(st.integers(1, 5_000), st.integers(1, 16))
def test_the_suggested_reduction_is_sufficient_and_minimal(nodes: int, interfaces: int) -> None:
    def fits(count: int, each: int) -> bool:
        clients = LustreClients(instance_type="p6-b300.48xlarge", count=count, efa_interfaces=each)
        return clients.check_connections() == []

    assert fits(nodes, interfaces) == (nodes * interfaces <= 1024)
    if fits(nodes, interfaces):
        return
    assert fits(1024 // interfaces, interfaces)
    assert not fits(1024 // interfaces + 1, interfaces)
    (problem,) = LustreClients(
        instance_type="p6-b300.48xlarge", count=nodes, efa_interfaces=interfaces
    ).check_connections()
    assert f"{1024 // interfaces:,} nodes, {nodes - 1024 // interfaces:,} fewer" in problem
    assert (f"use {1024 // nodes} EFA interfaces a node" in problem) == (nodes <= 1024)


@settings(deadline=None)
@given(st.integers(-5_000, 500_000), st.sampled_from([None, 125, 250, 500, 1000]), st.booleans())
def test_a_capacity_off_the_grid_is_reported_with_the_next_valid_sizes(
    capacity: int, tier: int | None, efa: bool
) -> None:
    for problem in check_capacity(capacity, tier=tier, efa=efa):
        sizes = [int(word.replace(",", "")) for word in problem.rpartition("size")[2].split() if word[0].isdigit()]
        assert sizes
        assert all(check_capacity(size, tier=tier, efa=efa) == [] for size in sizes)
        below, above = ([0, *sizes])[-2:]
        assert below < capacity < above or capacity <= 0
        # Nothing that is sold lies between them.
        between = range(max(below, 0) + 1, above)
        assert all(check_capacity(size, tier=tier, efa=efa) for size in between if size % 1_200 == 0)
