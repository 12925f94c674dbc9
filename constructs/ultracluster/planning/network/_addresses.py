"""Address ranges of the subnets of a cluster, inside the range of its VPC."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network
from typing import NamedTuple

from ultracluster.catalogue.ec2 import RESERVED_ADDRESSES_PER_SUBNET

# A VPC's range, and a subnet's, has a prefix of /16 to /28. See
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html and
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html (read 2026-11-21).
_SHORTEST_PREFIX = 16
_LONGEST_PREFIX = 28

# The training subnet has a quarter or half of the VPC; the lower half holds two small subnets at its start.
_LONGEST_VPC_PREFIX = _LONGEST_PREFIX - 2
_SMALL_SUBNET_PREFIX = 24

# This host, loopback, link-local, multicast and reserved. https://www.rfc-editor.org/rfc/rfc6890 (2013-04)
_NO_NETWORKS = tuple(IPv4Network(range) for range in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"))

#: Ranges of private addresses. https://www.rfc-editor.org/rfc/rfc1918 and rfc6598
PRIVATE_RANGES = tuple(
    IPv4Network(range) for range in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")
)


class SubnetPlan(NamedTuple):
    """The subnets of a cluster.

    Args:
        training: Subnet of all nodes and their file system.
        public: Subnet of the NAT gateway.
        services: Subnet of AWS services that cannot be in the zone of the training subnet.
        needed: Addresses that the training subnet needs.
        capacity: Usable addresses of the training subnet.
        reasons: Reasons, in sentences.
    """

    training: IPv4Network
    public: IPv4Network
    services: IPv4Network
    needed: int
    capacity: int
    reasons: tuple[str, ...]


def is_private(network: IPv4Network) -> bool:
    """Return True if all addresses of a range are private."""
    return any(network.subnet_of(range) for range in PRIVATE_RANGES)


def subnet_capacity(subnet: IPv4Network) -> int:
    """Return the number of usable addresses of a subnet."""
    return max(0, subnet.num_addresses - RESERVED_ADDRESSES_PER_SUBNET)


def subnet_prefix(addresses: int) -> int:
    """Return the prefix length of the smallest subnet for a number of addresses.

    Args:
        addresses: Usable addresses, without those that AWS reserves.

    Raises:
        ValueError: If no subnet is large enough.
    """
    most = subnet_capacity(IPv4Network((0, _SHORTEST_PREFIX)))
    if addresses > most:
        raise ValueError(
            f"{addresses:,} addresses are more than the {most:,} of the largest subnet, a /{_SHORTEST_PREFIX}"
        )
    return min(_LONGEST_PREFIX, 32 - (max(addresses, 1) + RESERVED_ADDRESSES_PER_SUBNET - 1).bit_length())


def check_vpc_cidr(cidr: IPv4Network) -> list[str]:
    """Return the errors of a range for a VPC."""
    problems = []
    if not _SHORTEST_PREFIX <= cidr.prefixlen <= _LONGEST_VPC_PREFIX:
        problems.append(f"a VPC for a cluster has a range of /{_SHORTEST_PREFIX} to /{_LONGEST_VPC_PREFIX}, got {cidr}")
    if any(cidr.overlaps(range) for range in _NO_NETWORKS):
        problems.append(f"{cidr} is not for networks; use a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
    return problems


def largest_training_subnet(vpc_cidr: IPv4Network) -> IPv4Network:
    """Return the largest training subnet of a VPC: its upper half.

    Raises:
        ValueError: If the range is not valid for a VPC.
    """
    problems = check_vpc_cidr(vpc_cidr)
    if problems:
        raise ValueError("; ".join(problems))
    return list(vpc_cidr.subnets(prefixlen_diff=1))[1]


def plan_subnets(vpc_cidr: IPv4Network, addresses: int, training_cidr: IPv4Network | None = None) -> SubnetPlan:
    """Plan the subnets of a cluster in its VPC.

    The training subnet takes the first half of the VPC's upper half, whether it needs that many addresses or not:
    a subnet whose range changes is replaced, and the cluster with it, so the range must not follow the number of
    nodes. Only when that is too small does it take the whole upper half.

    Args:
        vpc_cidr: Range of the VPC, /16 to /26.
        addresses: Addresses that the training subnet must hold.
        training_cidr: Range of the training subnet. Default: see above.

    Raises:
        ValueError: If the range is not valid for a VPC, or the training subnet is too small for the addresses, outside
            the VPC, or overlaps the small subnets. All reasons at once.
    """
    problems = check_vpc_cidr(vpc_cidr)
    if problems:
        raise ValueError("; ".join(problems))
    lower, upper = vpc_cidr.subnets(prefixlen_diff=1)
    small = lower.subnets(new_prefix=max(_SMALL_SUBNET_PREFIX, vpc_cidr.prefixlen + 2))
    public, services = next(small), next(small)
    if training_cidr is None:
        training, why = _choose_training(vpc_cidr, upper, addresses)
    else:
        training, why = training_cidr, f"the training subnet is {training_cidr}, as given"
        problems = _check_training(training_cidr, vpc_cidr, (public, services), addresses)
        if problems:
            raise ValueError("; ".join(problems))
    capacity = subnet_capacity(training)
    return SubnetPlan(
        training=training,
        public=public,
        services=services,
        needed=addresses,
        capacity=capacity,
        reasons=(
            why,
            f"it has {capacity:,} addresses to use, of which {addresses:,} are needed",
            f"{public} is the NAT gateway's, {services} for services that can't sit in the training zone",
        ),
    )


def plan_zone_subnets(
    vpc_cidr: IPv4Network, zones: Iterable[str], given: Mapping[str, IPv4Network], taken: Sequence[IPv4Network]
) -> tuple[dict[str, IPv4Network], dict[str, str]]:
    """Plan subnets for nodes in further zones in the second quarter of a VPC.

    The range of a zone does not depend on other zones: its number (`use2-az3` is 3) selects an eighth of the quarter;
    Local Zones share the last two.

    Args:
        vpc_cidr: Range of the VPC.
        zones: Ids of the zones.
        given: Configured ranges, by zone; others are planned here.
        taken: Ranges of other subnets.

    Returns:
        The ranges by zone, and the errors by zone: too small, outside the VPC, or an overlap.
    """
    prefix = vpc_cidr.prefixlen + 5
    quarter = list(vpc_cidr.subnets(prefixlen_diff=2))[1]
    eighths = list(quarter.subnets(new_prefix=prefix)) if prefix <= _LONGEST_PREFIX else []
    problems: dict[str, str] = {}
    planned: dict[str, IPv4Network] = {}
    for zone in zones:
        eighth = _eighth(zone)
        fix = f"network: {{subnets: {{{zone}: RANGE}}}}"
        if zone not in given and eighth >= len(eighths):
            problems[zone] = f"{vpc_cidr} has no place for a subnet in {zone} that is its own; give it a range: {fix}"
            continue
        subnet = given.get(zone) or eighths[eighth]
        others = [f"{other}, which has {range}" for other, range in planned.items() if subnet.overlaps(range)]
        others += [str(range) for range in taken if subnet.overlaps(range)]
        if others:
            problems[zone] = f"the subnet of {zone}, {subnet}, overlaps {' and '.join(others)}; give it another: {fix}"
        elif subnet.prefixlen > _LONGEST_PREFIX or not subnet.subnet_of(vpc_cidr):
            text = f"the subnet of {zone} must be a /{_LONGEST_PREFIX} or larger inside {vpc_cidr}"
            problems[zone] = f"{text}, got {subnet}"
        planned[zone] = subnet
    return planned, problems


def _eighth(zone: str) -> int:
    """Return the eighth of a zone: its number, or for a Local Zone one of the last two, by its name."""
    if zone.count("-") > 1:
        return 6 + sum(map(ord, zone)) % 2
    return int(zone.rpartition("az")[2]) - 1


def _choose_training(vpc: IPv4Network, upper: IPv4Network, addresses: int) -> tuple[IPv4Network, str]:
    quarter = next(upper.subnets(prefixlen_diff=1))
    if addresses <= subnet_capacity(quarter):
        return (
            quarter,
            f"the training subnet is {quarter}, a quarter of {vpc}, so that adding nodes does not change it",
        )
    if addresses <= subnet_capacity(upper):
        return (
            upper,
            f"the training subnet is {upper}, the upper half of {vpc}, for a quarter would be too small",
        )
    raise ValueError(
        f"the training subnet needs {addresses:,} addresses, and {upper}, the upper half of {vpc}, has "
        f"{subnet_capacity(upper):,}"
    )


def _check_training(
    training: IPv4Network, vpc: IPv4Network, taken: tuple[IPv4Network, ...], addresses: int
) -> list[str]:
    problems = []
    if training.prefixlen > _LONGEST_PREFIX:
        problems.append(f"a subnet has a range of /{_LONGEST_PREFIX} or larger, got {training}")
    if not training.subnet_of(vpc):
        problems.append(f"the training subnet {training} is not inside the VPC's range {vpc}")
    overlapped = " and ".join(str(other) for other in taken if training.overlaps(other))
    if overlapped:
        problems.append(
            f"the training subnet {training} overlaps {overlapped}, which the NAT gateway and services use; "
            f"{largest_training_subnet(vpc)} is free"
        )
    if addresses > subnet_capacity(training):
        problems.append(
            f"the training subnet needs {addresses:,} addresses, and {training} has "
            f"{subnet_capacity(training):,}; a /{subnet_prefix(addresses)} would do"
        )
    return problems
