from collections.abc import Callable
from ipaddress import IPv4Network

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from ultracluster.network import ClusterNetwork, EfaSecurityGroup, allow_all_between


def make_network(stack: cdk.Stack, zone: str = "use2-az1", services_zone: str | None = None) -> ClusterNetwork:
    return ClusterNetwork(
        stack,
        "Network",
        zone=zone,
        cidr=IPv4Network("10.0.0.0/16"),
        training_cidr=IPv4Network("10.0.128.0/18"),
        public_cidr=IPv4Network("10.0.0.0/24"),
        services_zone=services_zone,
        services_cidr=IPv4Network("10.0.1.0/24"),
    )


def test_nodes_live_in_one_zone_named_by_its_id(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_network(stack)
    subnets = template().find_resources("AWS::EC2::Subnet")
    assert {s["Properties"]["AvailabilityZoneId"] for s in subnets.values()} == {"use2-az1"}
    assert all("AvailabilityZone" not in s["Properties"] for s in subnets.values())


def test_the_training_subnet_reaches_out_through_nat_only(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    network = make_network(stack)
    training = stack.resolve(network.training_subnet.subnet_id)["Ref"]
    found = template()
    tables = {
        a["Properties"]["RouteTableId"]["Ref"]
        for a in found.find_resources("AWS::EC2::SubnetRouteTableAssociation").values()
        if a["Properties"]["SubnetId"]["Ref"] == training
    }
    routes = [
        r["Properties"]
        for r in found.find_resources("AWS::EC2::Route").values()
        if r["Properties"]["RouteTableId"]["Ref"] in tables
    ]
    assert len(routes) == 1
    assert "NatGatewayId" in routes[0]
    assert "GatewayId" not in routes[0]


def test_no_subnet_hands_out_public_addresses(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_network(stack)
    assert not template().find_resources("AWS::EC2::Subnet", {"Properties": {"MapPublicIpOnLaunch": True}})


def test_s3_is_reached_without_nat(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_network(stack)
    template().has_resource_properties(
        "AWS::EC2::VPCEndpoint",
        {
            "VpcEndpointType": "Gateway",
            "RouteTableIds": [Match.any_value()],
            "ServiceName": Match.any_value(),
        },
    )


def test_all_traffic_is_logged(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    make_network(stack)
    template().has_resource_properties("AWS::EC2::FlowLog", {"TrafficType": "ALL", "ResourceType": "VPC"})


def test_a_local_zone_gets_its_nat_and_services_in_a_zone_of_the_region(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    network = make_network(stack, zone="use1-dfw2-az1", services_zone="use1-az4")
    subnets = template().find_resources("AWS::EC2::Subnet")
    zones = {name: s["Properties"]["AvailabilityZoneId"] for name, s in subnets.items()}
    assert zones[stack.resolve(network.training_subnet.subnet_id)["Ref"]] == "use1-dfw2-az1"
    assert zones[stack.resolve(network.services_subnet.subnet_id)["Ref"]] == "use1-az4"
    nat = next(iter(template().find_resources("AWS::EC2::NatGateway").values()))
    assert zones[nat["Properties"]["SubnetId"]["Ref"]] == "use1-az4"


def test_rejects_a_local_zone_without_a_zone_for_services(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"Stack/Network: services_zone must be an Availability Zone"):
        make_network(stack, zone="use1-dfw2-az1")


def test_efa_rules_name_the_group_itself_both_ways(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=ec2.Vpc(stack, "Vpc"))
    own = stack.resolve(nodes.security_group_id)
    found = template()
    found.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress", {"GroupId": own, "SourceSecurityGroupId": own, "IpProtocol": "-1"}
    )
    found.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {"GroupId": own, "DestinationSecurityGroupId": own, "IpProtocol": "-1"},
    )


def test_two_groups_let_each_other_in_both_ways(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    vpc = ec2.Vpc(stack, "Vpc")
    one, other = (ec2.SecurityGroup(stack, name, vpc=vpc) for name in ("One", "Other"))
    allow_all_between(stack, "Both", one, other)
    found = template()
    for kind, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        rules = found.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()
        pairs = {(str(r["Properties"]["GroupId"]), str(r["Properties"][peer])) for r in rules}
        ids = [str(stack.resolve(g.security_group_id)) for g in (one, other)]
        assert pairs == {(ids[0], ids[1]), (ids[1], ids[0])}
