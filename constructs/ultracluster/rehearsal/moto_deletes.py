"""Deletions that moto's CloudFormation models leave out (5.2.5), done on moto's services directly.

Without them a VPC could not be deleted, for moto, like EC2, refuses while something is in it.
"""

from collections.abc import Callable
from typing import Any

from moto.ec2 import ec2_backends
from moto.ec2.exceptions import InvalidAssociationIdError
from moto.iam import iam_backends

from ultracluster.rehearsal.state import Resource

Delete = Callable[[Any, Resource], None]


def _route(ec2: Any, resource: Resource) -> None:
    properties = resource.blueprint.properties
    ec2.delete_route(
        properties["RouteTableId"],
        properties.get("DestinationCidrBlock"),
        properties.get("DestinationIpv6CidrBlock"),
        properties.get("DestinationPrefixListId"),
    )


def _association(ec2: Any, resource: Resource) -> None:
    try:
        ec2.disassociate_route_table(resource.physical_id)
    except InvalidAssociationIdError:
        # Another association of the same subnet has taken its place since, as a replacement makes it do.
        return


def _attachment(ec2: Any, resource: Resource) -> None:
    properties = resource.blueprint.properties
    if gateway := properties.get("InternetGatewayId"):
        ec2.detach_internet_gateway(gateway, properties["VpcId"])
    else:
        ec2.detach_vpn_gateway(properties["VpnGatewayId"], properties["VpcId"])


_EC2: dict[str, Delete] = {
    "AWS::EC2::EIP": lambda ec2, r: ec2.release_address(allocation_id=r.model.allocation_id),
    "AWS::EC2::FlowLog": lambda ec2, r: ec2.delete_flow_logs([r.physical_id]),
    "AWS::EC2::InternetGateway": lambda ec2, r: ec2.delete_internet_gateway(r.physical_id),
    "AWS::EC2::NatGateway": lambda ec2, r: ec2.delete_nat_gateway(r.physical_id),
    "AWS::EC2::NetworkInterface": lambda ec2, r: ec2.delete_network_interface(r.physical_id),
    "AWS::EC2::Route": _route,
    "AWS::EC2::RouteTable": lambda ec2, r: ec2.delete_route_table(r.physical_id),
    "AWS::EC2::SubnetRouteTableAssociation": _association,
    "AWS::EC2::TransitGateway": lambda ec2, r: ec2.delete_transit_gateway(r.physical_id),
    "AWS::EC2::VPCEndpoint": lambda ec2, r: ec2.delete_vpc_endpoints([r.physical_id]),
    "AWS::EC2::VPCGatewayAttachment": _attachment,
    "AWS::EC2::VPNGateway": lambda ec2, r: ec2.delete_vpn_gateway(r.physical_id),
    "AWS::EC2::Volume": lambda ec2, r: ec2.delete_volume(r.physical_id),
}


def delete(resource: Resource) -> bool:
    """Delete a resource that moto's model cannot; False for one that is not of these."""
    name, e = resource.blueprint.type_name, resource.blueprint.environment
    if name in _EC2:
        _EC2[name](ec2_backends[e.account][e.region], resource)
        return True
    if name == "AWS::IAM::ManagedPolicy":
        iam_backends[e.account][e.partition].delete_policy(resource.physical_id)
        return True
    return False
