"""Check that EFA works between two subnets, as far as a template knows."""

from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster.planning.network import check_efa_reach
from ultracluster.rules import Message


def check_efa_subnets(file_system: ec2.ISubnet, client: ec2.ISubnet) -> list[Message]:
    """Find what prevents EFA between a client and a file system in two subnets; empty if too little is known.

    Args:
        file_system: Subnet of the file system.
        client: Subnet of the clients.
    """
    return check_efa_client(client, cidr=_range(file_system), zone=known(file_system, "availability_zone"))


def check_efa_client(client: ec2.ISubnet, *, cidr: IPv4Network | None, zone: str | None) -> list[Message]:
    """Find what prevents EFA from a client to a file system; empty if too little is known.

    Args:
        client: Subnet of the clients.
        cidr: Range of the file system's subnet, or None if not known.
        zone: Id or name of its zone, or None if not known.
    """
    return check_efa_reach(cidr, _range(client), file_system_zone=zone, client_zone=known(client, "availability_zone"))


def _range(subnet: ec2.ISubnet) -> IPv4Network | None:
    cidr = known(subnet, "ipv4_cidr_block")
    return None if cidr is None else IPv4Network(cidr)


def known(subnet: ec2.ISubnet, attribute: str) -> str | None:
    """Return an attribute of a subnet, or None if synthesis does not know it."""
    # The CDK raises if an imported subnet does not have it.
    try:
        value: str = getattr(subnet, attribute)
    except RuntimeError:
        return None
    return None if cdk.Token.is_unresolved(value) else value
