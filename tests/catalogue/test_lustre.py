"""Facts on FSx for Lustre, except for the capacities."""

from fractions import Fraction
from itertools import pairwise

import pytest

from ultracluster.catalogue.storage import lustre, lustre_metadata, lustre_quotas
from ultracluster.catalogue.storage import lustre_intelligent_tiering as tiering
from ultracluster.planning.lustre import LustreSpec, lustre_offer


@pytest.mark.parametrize(
    ("tier", "disk_burst", "network", "network_burst"),
    [(125, 500, 320, 1300), (250, 500, 640, 1300), (500, None, 1300, None), (1000, None, 2600, None)],
)
def test_each_tier_has_its_baseline_and_its_burst(
    tier: int, disk_burst: int | None, network: int, network_burst: int | None
) -> None:
    result = lustre.tier(tier)
    assert (result.disk_burst, result.network, result.network_burst) == (disk_burst, network, network_burst)


@pytest.mark.parametrize(
    ("gib", "iops"),
    [
        (1_200, 1_500),
        (2_400, 3_000),
        (4_800, 6_000),
        (9_600, 6_000),
        (12_000, 12_000),
        (45_600, 12_000),
        (48_000, 24_000),
        (72_000, 36_000),
        (100_800, 60_000),
    ],
)
def test_metadata_iops_are_included_by_capacity(gib: int, iops: int) -> None:
    assert lustre_metadata.included_iops(gib) == iops


def test_metadata_iops_come_in_the_steps_of_the_page() -> None:
    assert lustre_metadata.SSD_IOPS[:5] == (1_500, 3_000, 6_000, 12_000, 24_000)
    assert lustre_metadata.SSD_IOPS[-1] == 192_000
    assert {above - below for below, above in pairwise(lustre_metadata.SSD_IOPS[3:])} == {12_000}
    assert [lustre_metadata.metadata_servers(iops) for iops in (1_500, 12_000, 12_001, 192_000)] == [1, 1, 2, 16]


@pytest.mark.parametrize("gib", [1_200, 4_800, 19_200, 38_400, 100_800, 480_000])
def test_what_is_included_could_be_provisioned_too(gib: int) -> None:
    iops = lustre_metadata.included_iops(gib)
    assert iops in lustre_metadata.SSD_IOPS or iops > lustre_metadata.MOST_IOPS


def test_quotas_have_a_code_and_a_default_of_their_own() -> None:
    codes = [quota.code for quota in lustre_quotas.LUSTRE_QUOTAS]
    assert len(set(codes)) == len(codes) == 7
    assert all(code.startswith("L-") and len(code) == 10 for code in codes)
    assert [quota.default for quota in lustre_quotas.LUSTRE_QUOTAS] == [
        100_800, 100, 100_800, 100, 100_000, 100_800, 500,
    ]  # fmt: skip


def test_a_file_system_gives_baseline_and_network_each_by_its_name() -> None:
    spec = LustreSpec(
        deployment_type="PERSISTENT_2",
        storage_type="SSD",
        capacity_gib=24_000,
        mb_per_s_per_tib=250,
        metadata_mode="AUTOMATIC",
    )
    tib = Fraction(24_000, 1024)
    assert (spec.disk_read_mb_per_s, spec.disk_write_mb_per_s) == (250 * tib, 250 * tib)
    assert spec.network_mb_per_s == 640 * tib
    assert spec.metadata_iops_given == 12_000
    assert (spec.storage_servers, spec.metadata_servers, spec.addresses) == (10, 1, 11)
    assert spec.usd_per_month == 5_040


def test_scratch_writes_at_half_the_speed_at_which_it_reads() -> None:
    spec = LustreSpec(deployment_type="SCRATCH_2", storage_type="SSD", capacity_gib=50_400)
    tib = Fraction(50_400, 1024)
    assert (spec.disk_read_mb_per_s, spec.disk_write_mb_per_s) == (200 * tib, 100 * tib)
    assert spec.network_mb_per_s == 200 * tib
    assert (spec.metadata_iops_given, spec.usd_per_month) == (None, None)


@pytest.mark.parametrize(("gib", "servers"), [(1_200, 2), (2_400, 2), (4_800, 3), (9_600, 5), (50_400, 22)])
def test_scratch_has_the_servers_of_the_table_of_aws(gib: int, servers: int) -> None:
    assert LustreSpec(deployment_type="SCRATCH_2", storage_type="SSD", capacity_gib=gib).addresses == servers


@pytest.mark.parametrize(
    ("mode", "size", "cache"),
    [
        ("PROPORTIONAL_TO_THROUGHPUT_CAPACITY", None, 40_000),
        ("USER_PROVISIONED", 64, 64),
        ("USER_PROVISIONED", 262_144, 262_144),
        ("NO_CACHE", None, 0),
    ],
)
def test_intelligent_tiering_gives_by_the_step_and_by_its_read_cache(
    mode: tiering.ReadCacheMode, size: int | None, cache: int
) -> None:
    spec = LustreSpec(
        deployment_type="PERSISTENT_2",
        storage_type="INTELLIGENT_TIERING",
        throughput_capacity_mb_per_s=8_000,
        read_cache_mode=mode,
        read_cache_gib=size,
        metadata_mode="USER_PROVISIONED",
        metadata_iops=6_000,
    )
    assert spec.disk_read_mb_per_s == spec.disk_write_mb_per_s == 8_000
    assert spec.network_mb_per_s == 25_000
    assert (spec.cache_gib, spec.metadata_iops_given) == (cache, 6_000)
    assert (spec.storage_servers, spec.metadata_servers, spec.most_gib) == (2, 1, 1024 * 1024)
    assert spec.usd_per_month is None


def test_the_network_of_no_file_system_is_slower_than_its_disks() -> None:
    """So disks alone decide what writes, and reads that no server has in memory, get."""
    assert all(tier.network >= tier.mb_per_s_per_tib for tier in lustre.TIERS)
    assert max(lustre.SCRATCH_READ, lustre.SCRATCH_WRITE) <= lustre.SCRATCH_NETWORK
    assert tiering.NETWORK_MB_PER_S_PER_STEP >= tiering.STEP_MB_PER_S


@pytest.mark.parametrize(
    ("zone", "tiers", "efa", "intelligent_tiering", "scratch"),
    [
        ("use2-az1", 4, True, True, True),
        ("apse5-az1", 4, True, True, False),
        ("usgw1-az1", 4, True, False, True),
        ("ilc1-az1", 2, False, False, True),
        ("mxc1-az1", 2, False, False, False),
        ("mec1-az1", 0, False, False, True),
        ("mes1-az2", 0, False, False, True),
        ("usw2-phx2-az1", 2, False, False, False),
        ("usw2-lax1-az1", 0, False, False, True),
        ("use1-bos1-az1", 0, False, False, False),
    ],
)
def test_each_region_has_the_deployment_types_of_the_table(
    zone: str, tiers: int, efa: bool, intelligent_tiering: bool, scratch: bool
) -> None:
    offer = lustre_offer(zone)
    assert (len(offer.tiers), offer.efa, offer.intelligent_tiering, offer.scratch) == (
        tiers,
        efa,
        intelligent_tiering,
        scratch,
    )
