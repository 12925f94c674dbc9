"""Check that EFA works between two subnets, as far as it is known at synthesis."""

from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster import planning
from ultracluster.planning.network import check_efa_reach
from ultracluster.rules import Message

_LISTED = "Fn::GetAZs"


def check_efa_subnets(file_system: ec2.ISubnet, client: ec2.ISubnet) -> list[Message]:
    """Find what prevents EFA between a client and a file system in two subnets; empty if too little is known."""
    return check_efa_client(client, cidr=_range(file_system), zone=_zone(file_system))


def check_efa_client(client: ec2.ISubnet, *, cidr: IPv4Network | None, zone: str | None) -> list[Message]:
    """Find what prevents EFA from a client to a file system; empty if too little is known.

    Args:
        client: Subnet of the clients.
        cidr: Range of the file system's subnet, or None if not known.
        zone: Id or name of its zone, or None if not known.
    """
    client_zone = _zone(client)
    # The name of a zone does not show its place in the list of zones.
    alike = zone and client_zone and (_LISTED in zone) == (_LISTED in client_zone)
    zones = {"file_system_zone": zone, "client_zone": client_zone} if alike else {}
    return check_efa_reach(cidr, _range(client), **zones)


def _range(subnet: ec2.ISubnet) -> IPv4Network | None:
    cidr = known(subnet, "ipv4_cidr_block")
    return None if cidr is None else IPv4Network(cidr)


def _zone(subnet: ec2.ISubnet) -> str | None:
    """Zone of a subnet, or its place in the list of the account's zones, which `ec2.Vpc` takes without a lookup."""
    if zone := known(subnet, "availability_zone"):
        return zone
    try:
        value = cdk.Stack.of(subnet).resolve(subnet.availability_zone)
    except RuntimeError:
        return None
    match value:
        case {"Fn::Select": [place, {"Fn::GetAZs": region}]}:
            return f"zone {place} of {_LISTED}({region!r})"
    return None


def known(subnet: ec2.ISubnet, attribute: str) -> str | None:
    """Return an attribute of a subnet, or None if it is not known at synthesis."""
    # The CDK raises if an imported subnet does not have it.
    try:
        value: str = getattr(subnet, attribute)
    except RuntimeError:
        return None
    return value if planning.known(value) else None
