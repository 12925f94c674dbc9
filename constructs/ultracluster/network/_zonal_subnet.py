"""A subnet that is placed by zone id."""

from ipaddress import IPv4Network

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class ZonalSubnet(Construct):
    """A subnet with its own route table, placed by zone id.

    L1, because `ec2.Subnet` takes the zone's name only (aws-cdk-lib 2.275.0): the same name is another zone in another
    account, and a capacity reservation is bought in a zone, not in a name.

    Args:
        vpc_id: Id of the VPC.
        zone: Zone id, such as `use2-az1`.
        cidr: Address range.
    """

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, zone: str, cidr: IPv4Network) -> None:
        super().__init__(scope, id)
        resource = ec2.CfnSubnet(self, "Resource", vpc_id=vpc_id, availability_zone_id=zone, cidr_block=str(cidr))
        self.route_table_id = ec2.CfnRouteTable(self, "RouteTable", vpc_id=vpc_id).ref
        association = ec2.CfnSubnetRouteTableAssociation(
            self, "RouteTableAssociation", route_table_id=self.route_table_id, subnet_id=resource.ref
        )
        cdk.Tags.of(self).add("Name", self.node.path)
        self.subnet_id = resource.ref
        self.subnet: ec2.ISubnet = ec2.Subnet.from_subnet_attributes(
            self,
            "Subnet",
            subnet_id=resource.ref,
            ipv4_cidr_block=str(cidr),
            availability_zone=resource.attr_availability_zone,
            route_table_id=self.route_table_id,
        )
        self.subnet.node.add_dependency(association)

    def add_default_route(self, **target: str) -> ec2.CfnRoute:
        """Add the route to the internet, by `gateway_id` or `nat_gateway_id`."""
        return ec2.CfnRoute(
            self, "DefaultRoute", route_table_id=self.route_table_id, destination_cidr_block="0.0.0.0/0", **target
        )
