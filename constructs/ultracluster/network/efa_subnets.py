"""Whether EFA works between two subnets, as far as a template can know."""

from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster.planning import check_efa_reach


def check_efa_subnets(file_system: ec2.ISubnet, client: ec2.ISubnet) -> list[str]:
    """What keeps clients in one subnet from EFA to a file system in another; nothing when too little is known.

    Args:
        file_system: Subnet of the file system.
        client: Subnet of the clients.
    """
    return check_efa_client(client, cidr=_range(file_system), zone=_zone(file_system))


def check_efa_client(client: ec2.ISubnet, *, cidr: IPv4Network | None, zone: str | None) -> list[str]:
    """What keeps clients in a subnet from EFA to a file system; nothing when too little is known.

    Args:
        client: Subnet of the clients.
        cidr: Range of the file system's subnet. None: not known.
        zone: Id or name of its zone. None: not known.
    """
    return check_efa_reach(cidr, _range(client), file_system_zone=zone, client_zone=_zone(client))


def _range(subnet: ec2.ISubnet) -> IPv4Network | None:
    # Imported subnets may not know it, and then the CDK raises.
    try:
        found = subnet.ipv4_cidr_block
    except RuntimeError:
        return None
    return None if cdk.Token.is_unresolved(found) else IPv4Network(found)


def _zone(subnet: ec2.ISubnet) -> str | None:
    try:
        found = subnet.availability_zone
    except RuntimeError:
        return None
    return None if cdk.Token.is_unresolved(found) else found
