"""Facts on FSx, PCS and Regions."""

import json
import subprocess
import sys
from importlib.resources import files

import pytest
from botocore.session import get_session
from hypothesis import given
from hypothesis import strategies as st
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

from ultracluster.catalogue.ec2 import (
    INSTANCES_PER_CAPACITY_BLOCK,
    NETWORK_INTERFACES_PER_REGION,
    REGIONS,
    RESERVED_ADDRESSES_PER_SUBNET,
    Architecture,
    default_type,
    image_parameter,
    is_local_zone,
    region_of_zone,
    via_service,
)
from ultracluster.catalogue.ec2._offerings import WITHOUT_M7I
from ultracluster.catalogue.monitoring import WITHOUT_PROMETHEUS
from ultracluster.catalogue.schedulers import pcs
from ultracluster.catalogue.storage import lustre, lustre_quotas

TIERS = [(125, 38_400), (250, 19_200), (500, 9_600), (1000, 4_800)]


@pytest.mark.parametrize(("throughput", "step"), TIERS)
def test_with_efa_a_tier_is_sold_in_steps_of_one_storage_server(throughput: int, step: int) -> None:
    tier = lustre.tier(throughput)
    assert tier.efa_step_gib == step
    # Every step has the same disk throughput, 4,687.5 MB/s, whatever the tier.
    assert tier.efa_step_gib / 1024 * throughput == 4687.5
    assert [lustre.next_step(step, gib) for gib in (0, 1, step, step + 1)] == [step, step, step, 2 * step]


@pytest.mark.parametrize(
    ("gib", "sold"),
    [(0, 1200), (1200, 1200), (1201, 2400), (2400, 2400), (2401, 4800), (3600, 4800), (100_000, 100_800)],
)
def test_without_efa_capacity_is_1200_or_a_multiple_of_2400(gib: int, sold: int) -> None:
    assert lustre.next_capacity_without_efa(gib) == sold


@given(tier=st.sampled_from(lustre.TIERS), efa=st.booleans(), gib=st.floats(0, 1e9))
def test_the_next_capacity_is_the_smallest_that_holds_it(tier: lustre.LustreTier, efa: bool, gib: float) -> None:
    sold = lustre.next_step(tier.efa_step_gib, gib) if efa else lustre.next_capacity_without_efa(gib)
    step, smallest = (tier.efa_step_gib,) * 2 if efa else (lustre.STEP_GIB, lustre.SMALLEST_GIB)
    assert sold >= gib
    assert sold == smallest or sold % step == 0
    assert sold == smallest or max(smallest, sold - step) < gib
    assert sold == (lustre.next_step(tier.efa_step_gib, sold) if efa else lustre.next_capacity_without_efa(sold))


def test_a_faster_tier_costs_more_a_gb_and_less_a_unit_of_throughput() -> None:
    by_speed = sorted(lustre.TIERS, key=lambda tier: tier.mb_per_s_per_tib)
    prices = [lustre.USD_PER_GB_MONTH[tier.mb_per_s_per_tib] for tier in by_speed]
    assert prices == sorted(prices)
    per_throughput = [price / tier.mb_per_s_per_tib for price, tier in zip(prices, by_speed, strict=True)]
    assert per_throughput == sorted(per_throughput, reverse=True)


def test_the_regions_without_prometheus_are_those_of_botocore() -> None:
    endpoints = get_session().get_data("endpoints")["partitions"]
    served = {region for partition in endpoints for region in partition["services"].get("aps", {}).get("endpoints", {})}
    assert set(REGIONS.values()) - served == WITHOUT_PROMETHEUS


def test_the_regions_without_m7i_are_those_of_cfn_lint() -> None:
    file = files("cfnlint.data.schemas.extensions.aws_ec2_instance") / "instancetype_enum.json"
    offered = {region: row["enum"] for region, row in json.loads(file.read_text()).items() if "enum" in row}
    lacking = {region for region in REGIONS.values() if "m7i.2xlarge" not in offered[region]}
    assert lacking == WITHOUT_M7I
    assert all(default_type("m7i.2xlarge", region) in offered[region] for region in REGIONS.values())


@pytest.mark.parametrize("throughput", [0, -125])
def test_rejects_a_tier_without_throughput(throughput: int) -> None:
    with pytest.raises(ValueError, match=f"at least 1 MB/s/TiB, got {throughput}"):
        lustre.tier(throughput)


def test_a_tier_that_is_newer_than_the_facts_follows_the_pattern_of_the_others() -> None:
    for known in lustre.TIERS:
        assert known.efa_step_gib * known.mb_per_s_per_tib == lustre.tier(2000).efa_step_gib * 2000
    assert 2000 not in lustre.USD_PER_GB_MONTH


@pytest.mark.parametrize(
    ("nodes", "size"), [(1, "SMALL"), (32, "SMALL"), (33, "MEDIUM"), (512, "MEDIUM"), (513, "LARGE"), (2048, "LARGE")]
)
def test_a_controller_is_the_smallest_that_manages_the_nodes(nodes: int, size: str) -> None:
    assert pcs.size_for(nodes) == size


@pytest.mark.parametrize("nodes", [-1, 0, 2049])
def test_rejects_more_or_fewer_nodes_than_pcs_manages(nodes: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 2048 instances.*got {nodes}"):
        pcs.size_for(nodes)


@pytest.mark.parametrize("name", ["abc", "Llama", "a-b", "a" * 25, "p12"])
def test_names_that_pcs_takes(name: str) -> None:
    assert pcs.check_cluster_name(name) == pcs.check_node_group_name(name) == []


@pytest.mark.parametrize("name", ["", "ab", "1abc", "a b", "a_b", "pcs_a", "-ab", "abc\n", "añb", "a" * 41])
def test_rejects_names_that_pcs_refuses(name: str) -> None:
    assert len(pcs.check_cluster_name(name)) == len(pcs.check_node_group_name(name)) == 1


def test_a_cluster_s_name_may_be_longer_than_a_node_group_s() -> None:
    assert pcs.check_cluster_name("a" * 40) == []
    assert "3 to 25" in pcs.check_node_group_name("a" * 26)[0]


def test_the_default_slurm_version_is_one_that_pcs_supports() -> None:
    assert pcs.check_slurm_version(pcs.DEFAULT_SLURM_VERSION) == []
    assert tuple(pcs.SLURM_VERSIONS) == ("25.05", "25.11", "26.05")
    assert "25.05, 25.11, 26.05" in pcs.check_slurm_version("23.11")[0]


@pytest.mark.parametrize("architecture", ["x86_64", "arm64"])
def test_there_is_an_image_for_each_architecture(architecture: Architecture) -> None:
    path = f"/aws/service/pcs/ami/dlami-base-ubuntu2404/{architecture}/latest/ami-id"
    assert image_parameter("pcs", architecture) == path


def test_the_prefixes_of_zone_ids_are_those_of_every_region_that_moto_knows() -> None:
    described = {
        zone.zone_id.partition("-")[0]: region
        for region, result in RegionsAndZonesBackend.zones.items()
        for zone in result
    }
    assert dict(REGIONS) == described
    assert len(described) == 38


def test_every_region_of_the_commercial_china_and_government_partitions_has_a_prefix() -> None:
    session = get_session()
    known = {
        region
        for partition in ("aws", "aws-cn", "aws-us-gov")
        for region in session.get_available_regions("ec2", partition_name=partition)
    }
    assert known <= set(REGIONS.values())


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("use2-az1", "us-east-2"),
        ("usw2-az4", "us-west-2"),
        ("apse3-az3", "ap-southeast-3"),
        ("mec1-az1", "me-central-1"),
        ("usgw1-az2", "us-gov-west-1"),
        ("cnnw1-az1", "cn-northwest-1"),
        ("use1-dfw2-az1", "us-east-1"),
        ("usw2-phx2-az1", "us-west-2"),
    ],
)
def test_a_zone_id_has_a_region(zone: str, region: str) -> None:
    assert region_of_zone(zone) == region


def test_conditions_of_keys_allow_both_domains_in_china() -> None:
    """bootstrap-template.yaml of the CDK CLI 2.1148.1 has amazonaws.com in China too."""
    assert via_service("s3", "us-gov-west-1") == "s3.us-gov-west-1.amazonaws.com"
    assert via_service("s3", "cn-north-1") == ["s3.cn-north-1.amazonaws.com", "s3.cn-north-1.amazonaws.com.cn"]


@pytest.mark.parametrize("zone", ["use1-dfw2-az1", "use1-atl2-az1", "usw2-phx2-az1"])
def test_a_local_zone_is_known_by_the_place_in_its_id(zone: str) -> None:
    assert is_local_zone(zone)


@pytest.mark.parametrize(
    "text",
    [
        "us-east-2a",
        "us-east-2",
        "",
        "use2",
        "use2-az",
        "use2-az1\n",
        " use2-az1",
        "USE2-AZ1",
        "zzz9-az1",
        "use2-az\u0661",
    ],
)
def test_what_is_no_known_zone_id_has_no_region_and_is_no_local_zone(text: str) -> None:
    assert region_of_zone(text) is None
    assert not is_local_zone(text)


@given(st.text(max_size=30))
def test_no_text_breaks_the_zone_table(text: str) -> None:
    assert region_of_zone(text) in {None, *REGIONS.values()}


def test_limits_that_planning_rests_on() -> None:
    assert NETWORK_INTERFACES_PER_REGION == 5000
    assert RESERVED_ADDRESSES_PER_SUBNET == 5
    assert INSTANCES_PER_CAPACITY_BLOCK == 64
    assert lustre_quotas.EFA_CONNECTIONS == 1024


def test_facts_load_without_anything_outside_the_standard_library() -> None:
    code = """
import sys
before = set(sys.modules)
from ultracluster.catalogue import ec2, monitoring, schedulers, storage
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
sys.exit(", ".join(loaded - set(sys.stdlib_module_names) - {"ultracluster"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
