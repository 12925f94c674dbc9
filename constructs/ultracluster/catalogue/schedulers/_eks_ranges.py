"""Amazon EKS: ranges of Services, and of the public endpoint.

See: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html (read 2026-11-21)
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_NETWORK_CONFIG = Source(
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html", read_on="2026-11-21"
)
_QUOTAS = Source("https://docs.aws.amazon.com/general/latest/gr/eks.html", read_on="2026-11-21")

# The range of Services, when nobody names one: one of the two that EKS itself chooses.
SERVICE_CIDR: Annotated[str, Stated(_NETWORK_CONFIG, columns="range of IPv4 addresses")] = "172.20.0.0/16"
#: The other range that EKS takes by default, where a VPC has the first.
OTHER_SERVICE_CIDR: Annotated[str, Stated(_NETWORK_CONFIG, columns="range of IPv4 addresses")] = "10.100.0.0/16"
# EKS takes private ranges from /12 to /24: the same page.
_SERVICE_PREFIXES: Annotated[range, Stated(_NETWORK_CONFIG, "bits of a prefix")] = range(12, 25)
# "Public endpoint access CIDR ranges per cluster", which can't be raised.
PUBLIC_RANGES: Annotated[int, Stated(_QUOTAS, "ranges")] = 40
# Nobody comes from more than a /8, and 40 of them are not the world. Ours.
_WIDEST_PUBLIC_PREFIX = 8
PRIVATE_RANGES = tuple(IPv4Network(range) for range in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))


def check_service_range(cidr: IPv4Network) -> list[str]:
    """Return the errors of a range of Services; empty if it is valid."""
    inside = any(cidr.subnet_of(private) for private in PRIVATE_RANGES)
    if inside and cidr.prefixlen in _SERVICE_PREFIXES:
        return []
    sizes = f"/{_SERVICE_PREFIXES[0]} to /{_SERVICE_PREFIXES[-1]}"
    return [f"must be a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, {sizes}, got {cidr}"]


def check_public_range(range: IPv4Network) -> str | None:
    """Return the error of a CIDR for the public endpoint of an API server, or None.

    See: https://docs.aws.amazon.com/eks/latest/userguide/config-cluster-endpoint.html (read 2026-11-21)
    """
    if range.prefixlen == 0:
        return f"{range} is the whole world"
    if range.prefixlen < _WIDEST_PUBLIC_PREFIX:
        return f"{range} is {range.num_addresses:,} addresses, a large part of the world"
    if any(range.overlaps(private) for private in PRIVATE_RANGES):
        return f"{range} holds private addresses, which cannot reach the public endpoint, and EKS refuses them"
    return None
