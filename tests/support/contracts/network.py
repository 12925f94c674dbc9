"""Rows of `ultracluster.network`."""

from ipaddress import IPv4Network

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from support.contracts._row import Connects, Imported, No, Row
from ultracluster import network

_ZONE = "use2-az1"


def _network(scope: Construct, id: str) -> network.ClusterNetwork:
    return network.ClusterNetwork(
        scope,
        id,
        zone=_ZONE,
        cidr=IPv4Network("10.0.0.0/16"),
        training_cidr=IPv4Network("10.0.128.0/18"),
        public_cidr=IPv4Network("10.0.0.0/24"),
        zone_cidrs={"use2-az2": IPv4Network("10.0.64.0/18")},
    )


def _imported_network(scope: Construct, id: str) -> network.IClusterNetwork:
    vpc = ec2.Vpc.from_vpc_attributes(
        scope, f"{id}Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"]
    )
    subnet = ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", "subnet-0123456789abcdef0")
    return network.ClusterNetwork.from_cluster_network_attributes(
        scope, id, zone=_ZONE, vpc=vpc, training_subnet=subnet
    )


ROWS: dict[str, Row] = {
    "EfaSecurityGroup": Row(
        make=lambda scope, id, world: network.EfaSecurityGroup(scope, id, vpc=world.vpc),
        connects=Connects(default_port="ALL TRAFFIC"),
        grants=No("there is nothing that a principal could be allowed to do with it"),
        principal=No("it has no role"),
        tags=["AWS::EC2::SecurityGroup"],
        default_child="AWS::EC2::SecurityGroup",
        tokens=lambda scope, id, world: network.EfaSecurityGroup(
            scope, id, vpc=world.vpc, description=world.token("Description")
        ),
        imported=Imported(
            make=lambda scope, id: network.EfaSecurityGroup.from_security_group_id(scope, id, "sg-0123456789abcdef0"),
            interface=ec2.ISecurityGroup,
        ),
        uses={
            "security group of an instance": lambda subject, stack, world: ec2.Instance(
                stack,
                "Instance",
                vpc=world.vpc,
                instance_type=ec2.InstanceType("c7i.large"),
                machine_image=ec2.MachineImage.latest_amazon_linux2023(),
                security_group=subject,
            )
        },
    ),
    "ClusterNetwork": Row(
        make=lambda scope, id, world: _network(scope, id),
        connects=No("it has no network interface"),
        grants=No("there is nothing that a principal could be allowed to do with it"),
        principal=No("it has no role"),
        tags=["AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::RouteTable", "AWS::EC2::NatGateway"],
        default_child="AWS::EC2::VPC",
        tokens=No("zone and address ranges decide what is created, so they must be known at synthesis"),
        imported=Imported(make=_imported_network, interface=network.IClusterNetwork),
        uses={
            "VPC of an instance": lambda subject, stack, world: ec2.Instance(
                stack,
                "Instance",
                vpc=subject.vpc,
                vpc_subnets=ec2.SubnetSelection(subnets=[subject.training_subnet]),
                instance_type=ec2.InstanceType("c7i.large"),
                machine_image=ec2.MachineImage.latest_amazon_linux2023(),
            )
        },
    ),
    "ServiceEndpoints": Row(
        make=lambda scope, id, world: network.ServiceEndpoints(
            scope, id, vpc=world.vpc, subnet=world.subnet, clients=[world.security_group]
        ),
        connects=Connects(default_port="443"),
        grants=No("the services' own policies grant"),
        principal=No("it has no role"),
        tags=["AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"],
        default_child=No("it is several endpoints"),
        tokens=lambda scope, id, world: network.ServiceEndpoints(
            scope,
            id,
            vpc=world.vpc,
            subnet=ec2.Subnet.from_subnet_id(scope, f"{id}Subnet", world.token("Subnet")),
        ),
        imported=No("nothing refers to it"),
    ),
}
