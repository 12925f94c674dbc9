"""Deletions that moto's CloudFormation models leave out (5.2.5), done on moto's services directly.

Without them a VPC could not be deleted, for moto, like EC2, refuses while something is in it.
"""

from collections.abc import Callable
from typing import Any

from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.s3.models import s3_backends

from cdk_rehearsal.rehearsal._errors import ResourceError
from cdk_rehearsal.rehearsal._state import Resource

Delete = Callable[[Any, Resource], None]


def _route(ec2: Any, resource: Resource) -> None:
    properties = resource.blueprint.properties
    ec2.delete_route(
        properties["RouteTableId"],
        properties.get("DestinationCidrBlock"),
        properties.get("DestinationIpv6CidrBlock"),
        properties.get("DestinationPrefixListId"),
    )


def _attachment(ec2: Any, resource: Resource) -> None:
    properties = resource.blueprint.properties
    if gateway := properties.get("InternetGatewayId"):
        ec2.detach_internet_gateway(gateway, properties["VpcId"])
    else:
        ec2.detach_vpn_gateway(properties["VpnGatewayId"], properties["VpcId"])


def _managed_policy(iam: Any, resource: Resource) -> None:
    # CloudFormation takes a policy from its roles before it deletes it.
    for role in iam.get_roles():
        if resource.physical_id in role.managed_policies:
            iam.detach_role_policy(resource.physical_id, role.name)
    iam.delete_policy(resource.physical_id)


_EC2: dict[str, Delete] = {
    "AWS::EC2::EIP": lambda ec2, r: ec2.release_address(allocation_id=r.model.allocation_id),
    "AWS::EC2::FlowLog": lambda ec2, r: ec2.delete_flow_logs([r.physical_id]),
    "AWS::EC2::InternetGateway": lambda ec2, r: ec2.delete_internet_gateway(r.physical_id),
    "AWS::EC2::NatGateway": lambda ec2, r: ec2.delete_nat_gateway(r.physical_id),
    "AWS::EC2::Route": _route,
    "AWS::EC2::RouteTable": lambda ec2, r: ec2.delete_route_table(r.physical_id),
    "AWS::EC2::VPCEndpoint": lambda ec2, r: ec2.delete_vpc_endpoints([r.physical_id]),
    "AWS::EC2::VPCGatewayAttachment": _attachment,
}


def delete(resource: Resource) -> bool:
    """Delete a resource that moto's model cannot; False for one that is not of these."""
    name, e = resource.blueprint.type_name, resource.blueprint.environment
    if name in _EC2:
        _EC2[name](ec2_backends[e.account][e.region], resource)
        return True
    if name == "AWS::S3::Bucket":
        # moto keeps a bucket that holds objects, without an error.
        if s3_backends[e.account][e.partition].delete_bucket(resource.physical_id) is None:
            raise ResourceError("The bucket you tried to delete is not empty")
        return True
    if name == "AWS::IAM::ManagedPolicy":
        _managed_policy(iam_backends[e.account][e.partition], resource)
        return True
    return False
