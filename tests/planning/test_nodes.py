"""Images, quotas, zones and failures, as arithmetic."""

import gzip
import json
from ipaddress import IPv4Network
from pathlib import Path

import moto
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.catalogue.ec2 import INSTANCE_TYPES, OFFERED, architecture_of, image_parameter, moves, vcpu_quota
from ultracluster.catalogue.ec2._offerings import offered_in
from ultracluster.planning.capacity import (
    CapacityBlock,
    Image,
    OnDemand,
    Spot,
    TargetedReservation,
    check_image,
    vcpu_needs,
)
from ultracluster.planning.network import plan_subnets, plan_zone_subnets
from ultracluster.planning.workload import days_between_interruptions

GB200 = INSTANCE_TYPES["p6e-gb200.36xlarge"]
B300 = INSTANCE_TYPES["p6-b300.48xlarge"]
AMI = "ami-0123456789abcdef0"


def test_an_image_of_another_architecture_is_refused_however_it_is_known() -> None:
    by_word = check_image(Image(id=AMI, architecture="x86_64"), GB200)
    by_name = check_image(Image(parameter=image_parameter("pcs", "x86_64")), GB200)
    assert by_word == by_name == ["p6e-gb200.36xlarge is arm64, and the image is for x86_64; use one for it"]
    assert check_image(Image(parameter=image_parameter("pcs", "arm64")), GB200) == []


def test_software_older_than_the_type_runs_with_is_refused_each_with_what_it_needs() -> None:
    old = Image(id=AMI, driver="570.172", cuda="12.8", efa_installer="1.43.9")
    assert [problem.split(" needs ")[1].split(",")[0] for problem in check_image(old, B300)] == [
        "NVIDIA driver 580 or newer",
        "CUDA 13.0 or newer",
        "EFA installer 1.44.0 or newer",
    ]
    assert check_image(Image(id=AMI, driver="580.95.05", cuda="13.0", efa_installer="1.44.0"), B300) == []
    assert check_image(Image(id=AMI, cuda="13"), B300) == [], "13 is 13.0"


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=4))
def test_versions_are_compared_as_numbers(parts: list[int]) -> None:
    problems = check_image(Image(id=AMI, driver=".".join(map(str, parts))), B300)
    assert (problems == []) == (parts >= [580])


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ({}, "by its id .* or by a parameter"),
        ({"id": AMI, "parameter": "/a"}, "one of the two"),
        ({"parameter": "a b"}, "begins with /"),
        ({"id": AMI, "driver": "new"}, "driver must be a version"),
        ({"parameter": "/x/arm64/y", "architecture": "x86_64"}, "holds images for arm64, not x86_64"),
    ],
)
def test_rejects_what_names_no_image(what: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Image(**what)  # type: ignore[arg-type]


def test_public_parameters_name_their_architecture_and_move() -> None:
    for family in ("pcs", "dlami", "eks", "bottlerocket"):
        for architecture in ("x86_64", "arm64"):
            name = image_parameter(family, architecture, "1.34")
            assert architecture_of(name) == architecture
            assert moves(name)
    assert not moves("/team/images/pcs/2026-11-02")
    with pytest.raises(ValueError, match="one version of Kubernetes"):
        image_parameter("eks", "arm64")


def test_capacity_blocks_take_no_vcpu_quota_and_reservations_do() -> None:
    id = "cr-0123456789abcdef0"
    p5, cpu = INSTANCE_TYPES["p5.48xlarge"], INSTANCE_TYPES["m7i.8xlarge"]
    needs = vcpu_needs(
        [
            (p5, OnDemand(), 2),
            (p5, TargetedReservation(reservation_id=id), 64),
            (p5, CapacityBlock(reservation_id=id), 64),
            (p5, Spot(), 1),
            (cpu, OnDemand(), 3),
        ]
    )
    assert {quota.code: vcpus for quota, vcpus in needs.items()} == {
        "L-417A185B": 66 * 192,
        "L-7212CCBC": 192,
        "L-1216C47A": 96,
    }


@pytest.mark.parametrize(
    ("name", "family"),
    [("p5.48xlarge", " P "), ("g6e.xlarge", " G and VT "), ("trn2.48xlarge", " Trn "), ("c7g.large", "C")],
)
def test_a_type_counts_against_the_quota_of_its_family(name: str, family: str) -> None:
    assert family in vcpu_quota(name, "on-demand").name
    assert vcpu_quota(name, "on-demand").code != vcpu_quota(name, "spot").code


def test_the_zones_that_offer_a_type_are_those_that_ec2_names() -> None:
    folder = Path(moto.__file__).parent / "ec2/resources/instance_type_offerings/availability-zone-id"
    named: dict[str, set[str]] = {}
    for file in folder.iterdir():
        for row in json.loads(gzip.decompress(file.read_bytes())):
            named.setdefault(row["InstanceType"], set()).add(row["Location"])
    for name, zones in OFFERED.items():
        # Local Zones (use1-atl2-az1) are not in that answer.
        assert {zone for zone in zones if len(zone.split("-")) == 2} == named.get(name, set())
    assert offered_in("p6-b300.48xlarge", "usw2") == ("usw2-az1", "usw2-az2")


def test_a_job_fails_twice_as_often_on_twice_the_nodes() -> None:
    assert days_between_interruptions(2048, 3.8) == pytest.approx(54 / 419, rel=0.01)
    assert days_between_interruptions(2048) * 24 == pytest.approx(1.8, abs=0.01)
    assert days_between_interruptions(32) == pytest.approx(2 * days_between_interruptions(64))
    with pytest.raises(ValueError, match="must be above 0"):
        days_between_interruptions(1, 0)
    with pytest.raises(ValueError, match="at least 1"):
        days_between_interruptions(0)


ZONES = st.lists(st.sampled_from([f"use2-az{n}" for n in range(1, 9)]), max_size=8, unique=True)


@given(st.integers(16, 21), ZONES)
def test_subnets_of_further_zones_lie_in_the_vpc_and_apart(prefix: int, zones: list[str]) -> None:
    vpc = IPv4Network((0x0A000000, prefix))
    plan = plan_subnets(vpc, 0)
    taken = (plan.training, plan.public, plan.services)
    planned, errors = plan_zone_subnets(vpc, zones, {}, taken)
    assert not errors
    networks = [*planned.values(), *taken]
    assert list(planned) == zones
    assert all(network.subnet_of(vpc) for network in planned.values())
    assert not any(a.overlaps(b) for i, a in enumerate(networks) for b in networks[:i])


@given(st.integers(22, 26), st.sampled_from(["use2-az1", "use2-az8"]))
def test_rejects_a_further_zone_in_a_vpc_that_has_no_room_for_it(prefix: int, zone: str) -> None:
    vpc = IPv4Network((0x0A000000, prefix))
    plan = plan_subnets(vpc, 0)
    _, errors = plan_zone_subnets(vpc, [zone], {}, (plan.training, plan.public, plan.services))
    assert f"subnets: {{{zone}: RANGE}}" in errors[zone]


@given(ZONES, ZONES)
def test_a_zone_keeps_its_subnet_whatever_other_zones_there_are(some: list[str], others: list[str]) -> None:
    vpc = IPv4Network("10.0.0.0/16")
    before, after = (plan_zone_subnets(vpc, zones, {}, ())[0] for zones in (some, others))
    assert all(before[zone] == after[zone] for zone in set(some) & set(others))


def test_rejects_subnets_of_zones_that_overlap_or_lie_elsewhere_all_at_once() -> None:
    given = {"use2-az2": IPv4Network("10.0.0.0/24"), "use2-az3": IPv4Network("10.9.0.0/20")}
    _, errors = plan_zone_subnets(IPv4Network("10.0.0.0/16"), list(given), given, [IPv4Network("10.0.0.0/20")])
    assert "use2-az2, 10.0.0.0/24, overlaps 10.0.0.0/20" in errors["use2-az2"]
    assert "the subnet of use2-az3 must" in errors["use2-az3"]
