from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracluster.planning.network import largest_training_subnet, plan_subnets, subnet_capacity
from ultracluster.planning.network._addresses import subnet_prefix

VPC = IPv4Network("10.0.0.0/16")


def private_vpcs() -> st.SearchStrategy[IPv4Network]:
    def vpc(prefix: int, address: int) -> IPv4Network:
        return IPv4Network((0x0A000000 | address & 0x00FFFFFF, prefix), strict=False)

    return st.builds(vpc, st.integers(16, 26), st.integers(0, 2**24 - 1))


def test_aws_keeps_five_addresses_of_every_subnet() -> None:
    assert subnet_capacity(IPv4Network("10.0.0.0/24")) == 251
    assert subnet_capacity(IPv4Network("10.0.0.0/20")) == 4091
    assert subnet_capacity(IPv4Network("10.0.0.0/32")) == 0


@given(st.integers(0, 65_531))
def test_the_prefix_is_the_longest_that_holds_the_addresses(addresses: int) -> None:
    prefix = subnet_prefix(addresses)
    assert 16 <= prefix <= 28
    assert subnet_capacity(IPv4Network((0, prefix))) >= addresses
    assert prefix == 28 or subnet_capacity(IPv4Network((0, prefix + 1))) < addresses


def test_rejects_more_addresses_than_the_largest_subnet_has() -> None:
    with pytest.raises(ValueError, match=r"65,532 addresses are more than the 65,531 of the largest subnet, a /16"):
        subnet_prefix(65_532)


def test_the_training_subnet_is_a_quarter_of_the_vpc_however_few_the_nodes() -> None:
    for addresses in (0, 1, 1_000, 16_379):
        assert plan_subnets(VPC, addresses).training == IPv4Network("10.0.128.0/18")


def test_the_training_subnet_is_half_of_the_vpc_when_the_nodes_need_it() -> None:
    plan = plan_subnets(VPC, 16_380)
    assert plan.training == IPv4Network("10.0.128.0/17")
    assert plan.capacity == 32_763
    assert plan_subnets(VPC, 32_763).training == plan.training == largest_training_subnet(VPC)


def test_rejects_more_nodes_than_half_of_the_vpc_holds_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"needs 32,764 addresses, and 10\.0\.128\.0/17.* has 32,763"):
        plan_subnets(VPC, 32_764)


@given(private_vpcs(), st.data())
def test_subnets_never_overlap_and_never_leave_the_vpc(vpc: IPv4Network, data: st.DataObject) -> None:
    addresses = data.draw(st.integers(0, subnet_capacity(largest_training_subnet(vpc))))
    plan = plan_subnets(vpc, addresses)
    subnets = [plan.training, plan.public, plan.services]
    assert all(subnet.subnet_of(vpc) and 16 <= subnet.prefixlen <= 28 for subnet in subnets)
    assert not any(a.overlaps(b) for i, a in enumerate(subnets) for b in subnets[i + 1 :])
    assert plan.capacity == subnet_capacity(plan.training) >= plan.needed == addresses


@given(private_vpcs(), st.data())
def test_growing_nodes_never_move_the_small_subnets_nor_where_the_training_subnet_begins(
    vpc: IPv4Network, data: st.DataObject
) -> None:
    most = subnet_capacity(largest_training_subnet(vpc))
    few, many = sorted(data.draw(st.tuples(st.integers(0, most), st.integers(0, most))))
    small, large = plan_subnets(vpc, few), plan_subnets(vpc, many)
    assert (small.public, small.services) == (large.public, large.services)
    assert small.training.network_address == large.training.network_address
    assert small.capacity <= large.capacity


def test_a_range_of_ones_own_is_taken_as_it_is() -> None:
    training = IPv4Network("10.0.64.0/20")
    plan = plan_subnets(VPC, 4_091, training)
    assert plan.training == training
    assert "as given" in plan.reasons[0]


@pytest.mark.parametrize(
    ("cidr", "addresses", "message"),
    [
        ("10.1.0.0/18", 1, r"10\.1\.0\.0/18 is not inside the VPC's range 10\.0\.0\.0/16"),
        ("10.0.0.0/15", 1, "is not inside the VPC's range"),
        ("10.0.0.0/18", 1, r"overlaps 10\.0\.0\.0/24 and 10\.0\.1\.0/24.*10\.0\.128\.0/17 is free"),
        ("10.0.1.128/25", 1, r"overlaps 10\.0\.1\.0/24, which"),
        ("10.0.128.0/24", 252, "needs 252 addresses, and 10.0.128.0/24 has 251; a /23 would do"),
        ("10.0.128.0/29", 1, "a subnet has a range of /28 or larger"),
    ],
)
def test_rejects_a_training_subnet_that_can_not_be(cidr: str, addresses: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_subnets(VPC, addresses, IPv4Network(cidr))


def test_rejects_everything_that_is_wrong_with_a_training_subnet_at_once() -> None:
    with pytest.raises(ValueError, match=r"not inside.*; .*a /25 would do"):
        plan_subnets(VPC, 100, IPv4Network("10.9.0.0/26"))


@pytest.mark.parametrize("vpc", ["10.0.0.0/8", "10.0.0.0/15", "10.0.0.0/27", "10.0.0.0/32", "0.0.0.0/0"])
def test_rejects_a_vpc_of_a_size_that_holds_no_cluster(vpc: str) -> None:
    for plan in (lambda n: plan_subnets(n, 1), largest_training_subnet):
        with pytest.raises(ValueError, match="a VPC for a cluster has a range of /16 to /26"):
            plan(IPv4Network(vpc))


@pytest.mark.parametrize("vpc", ["0.0.0.0/16", "127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "240.0.0.0/16"])
def test_rejects_ranges_that_are_no_networks_of_ones_own(vpc: str) -> None:
    with pytest.raises(ValueError, match="is not for networks"):
        plan_subnets(IPv4Network(vpc), 1)


def test_a_plan_explains_its_sizes() -> None:
    reasons = " ".join(plan_subnets(VPC, 1_053).reasons)
    assert "a quarter of 10.0.0.0/16, so that adding nodes does not change it" in reasons
    assert "16,379 addresses" in reasons
    assert "1,053 are needed" in reasons
