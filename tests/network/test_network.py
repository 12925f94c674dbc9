import json
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import aws_cdk as cdk
import pytest
import yaml  # type: ignore[import-untyped]  # no stubs
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from support import ROOT
from support.templates import resources_of
from ultracluster import clusterfile
from ultracluster.network import (
    ClusterNetwork,
    EfaSecurityGroup,
    Network,
    ServiceEndpoints,
    allow_all_between,
    check_same_vpc,
)


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
    result = template()
    tables = {
        a["Properties"]["RouteTableId"]["Ref"]
        for a in result.find_resources("AWS::EC2::SubnetRouteTableAssociation").values()
        if a["Properties"]["SubnetId"]["Ref"] == training
    }
    routes = [
        r["Properties"]
        for r in result.find_resources("AWS::EC2::Route").values()
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


def test_a_local_zone_gets_its_nat_and_services_in_a_zone_of_the_region() -> None:
    stack = cdk.Stack(env=cdk.Environment(account="123456789012", region="us-east-1"))
    network = make_network(stack, zone="use1-dfw2-az1", services_zone="use1-az4")
    template = Template.from_stack(stack)
    subnets = template.find_resources("AWS::EC2::Subnet")
    zones = {name: s["Properties"]["AvailabilityZoneId"] for name, s in subnets.items()}
    assert zones[stack.resolve(network.training_subnet.subnet_id)["Ref"]] == "use1-dfw2-az1"
    assert zones[stack.resolve(network.services_subnet.subnet_id)["Ref"]] == "use1-az4"
    nat = next(iter(template.find_resources("AWS::EC2::NatGateway").values()))
    assert zones[nat["Properties"]["SubnetId"]["Ref"]] == "use1-az4"


def test_rejects_a_local_zone_without_a_zone_for_services(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"Stack/Network: services_zone must be an Availability Zone"):
        make_network(stack, zone="use1-dfw2-az1")


def test_efa_rules_name_the_group_itself_both_ways(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=ec2.Vpc(stack, "Vpc"))
    group_id = stack.resolve(nodes.security_group_id)
    result = template()
    result.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress", {"GroupId": group_id, "SourceSecurityGroupId": group_id, "IpProtocol": "-1"}
    )
    result.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {"GroupId": group_id, "DestinationSecurityGroupId": group_id, "IpProtocol": "-1"},
    )


def test_two_groups_let_each_other_in_both_ways(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    vpc = ec2.Vpc(stack, "Vpc")
    first, second = (ec2.SecurityGroup(stack, name, vpc=vpc) for name in ("First", "Second"))
    allow_all_between(stack, "Both", first, second)
    result = template()
    for kind, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        rules = result.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()
        pairs = {(str(r["Properties"]["GroupId"]), str(r["Properties"][peer])) for r in rules}
        ids = [str(stack.resolve(g.security_group_id)) for g in (first, second)]
        assert pairs == {(ids[0], ids[1]), (ids[1], ids[0])}


def two_vpcs(stack: cdk.Stack) -> tuple[ec2.Vpc, ec2.Vpc]:
    return ec2.Vpc(stack, "First", max_azs=1), ec2.Vpc(stack, "Second", max_azs=1)


def test_finds_a_subnet_and_a_security_group_of_another_vpc(stack: cdk.Stack) -> None:
    first, second = two_vpcs(stack)
    group = EfaSecurityGroup(stack, "Nodes", vpc=second)
    problems = check_same_vpc({"vpc": first, "subnet": second.private_subnets[0], "group": group})
    assert [problem.split(" must be in the VPC ")[0] for problem in problems] == ["subnet", "group"]
    assert check_same_vpc({"vpc": second, "subnet": second.private_subnets[0], "group": group}) == []


def test_compares_the_subnets_of_a_cluster_network_too(stack: cdk.Stack) -> None:
    network = make_network(stack)
    other = ec2.Vpc(stack, "Other", max_azs=1)
    assert check_same_vpc({"subnet": network.training_subnet, "vpc": other})
    assert not check_same_vpc({"subnet": network.training_subnet, "vpc": network.vpc})


def test_takes_imported_subnets_as_they_are(stack: cdk.Stack) -> None:
    subnet = ec2.Subnet.from_subnet_id(stack, "Imported", "subnet-0123456789abcdef0")
    assert not check_same_vpc({"vpc": ec2.Vpc(stack, "Vpc"), "subnet": subnet})


def test_compares_the_ids_of_existing_vpcs(stack: cdk.Stack) -> None:
    first, second = (
        ec2.Vpc.from_vpc_attributes(stack, id, vpc_id=f"vpc-0123456789abcdef{id}", availability_zones=["us-east-2a"])
        for id in "01"
    )
    assert check_same_vpc({"vpc": first, "group": EfaSecurityGroup(stack, "Nodes", vpc=second)})


def test_rejects_endpoints_in_a_subnet_of_another_vpc(stack: cdk.Stack) -> None:
    first, second = two_vpcs(stack)
    with pytest.raises(ValueError, match=r"Stack/Endpoints: subnet must be in the VPC Stack/First/Resource of vpc"):
        ServiceEndpoints(stack, "Endpoints", vpc=first, subnet=second.private_subnets[0])


def test_rejects_a_service_that_is_named_twice(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(ValueError, match="got ssm again"):
        ServiceEndpoints(stack, "Endpoints", vpc=vpc, subnet=vpc.private_subnets[0], services=["ssm", "ssm"])


def test_rejects_a_service_that_only_a_deployment_knows(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    service = cdk.CfnParameter(stack, "Service").value_as_string
    with pytest.raises(ValueError, match="services must be known at synthesis"):
        ServiceEndpoints(stack, "Endpoints", vpc=vpc, subnet=vpc.private_subnets[0], services=[service])


def test_rejects_a_training_subnet_outside_the_vpc(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"training_cidr must be inside cidr, 10.0.0.0/16, got 10.1.0.0/18"):
        ClusterNetwork(
            stack,
            "Network",
            zone="use2-az1",
            cidr=IPv4Network("10.0.0.0/16"),
            training_cidr=IPv4Network("10.1.0.0/18"),
            public_cidr=IPv4Network("10.0.0.0/24"),
        )


def test_rejects_a_zone_that_only_a_deployment_knows(stack: cdk.Stack) -> None:
    zone = cdk.CfnParameter(stack, "Zone").value_as_string
    with pytest.raises(ValueError, match="zone must be known at synthesis, such as use2-az1, got a token"):
        make_network(stack, zone=zone)


def test_rejects_an_imported_network_with_a_subnet_of_another_vpc(stack: cdk.Stack) -> None:
    first, second = two_vpcs(stack)
    with pytest.raises(ValueError, match=r"Stack/Network: training_subnet must be in the VPC Stack/First"):
        ClusterNetwork.from_cluster_network_attributes(
            stack, "Network", zone="use2-az1", vpc=first, training_subnet=second.private_subnets[0]
        )


def test_an_imported_network_uses_the_training_subnet_for_services(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    network = ClusterNetwork.from_cluster_network_attributes(
        stack, "Network", zone="use2-az1", vpc=vpc, training_subnet=vpc.private_subnets[0]
    )
    assert network.services_subnet is network.training_subnet
    assert network.zone_subnets == {}


PERIMETER = """
name: orca
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes: {train: {type: p5.48xlarge, count: 2, capacity: on-demand}}
"""


def perimeter_of(stack: cdk.Stack, template: Callable[[], Template], text: str) -> tuple[set[str], dict[str, Any]]:
    """Return the egress of nodes, and the statements of the endpoint policies by service."""
    Network.from_cluster_file(stack, clusterfile.loads(text, "c.yaml"))
    content = template().to_json()["Resources"].values()
    (group,) = [
        item["Properties"]["SecurityGroupEgress"]
        for item in content
        if item["Type"] == "AWS::EC2::SecurityGroup" and "EFA" in item["Properties"]["GroupDescription"]
    ]
    endpoints = [item["Properties"] for item in content if item["Type"] == "AWS::EC2::VPCEndpoint"]
    names = {json.dumps(item["ServiceName"]).rpartition(".")[2].strip('"]}') or "s3": item for item in endpoints}
    policies = {name: item["PolicyDocument"]["Statement"] for name, item in names.items() if "PolicyDocument" in item}
    return {f"{row['CidrIp']} {row['IpProtocol']} {row.get('ToPort')}" for row in group}, policies


PRIVATE_EGRESS = {f"{range} -1 None" for range in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")}


def test_a_perimeter_with_internet_lets_nodes_reach_public_addresses_for_the_web_only(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    text = f"{PERIMETER}perimeter: {{organization: o-a1b2c3d4e5}}"
    egress, policies = perimeter_of(stack, template, text)
    assert egress == PRIVATE_EGRESS | {"0.0.0.0/0 tcp 80", "0.0.0.0/0 tcp 443"}
    ((inside, _),) = policies.values()
    organization = {"aws:PrincipalOrgID": "o-a1b2c3d4e5", "aws:ResourceOrgID": "o-a1b2c3d4e5"}
    assert inside["Condition"] == {"StringEquals": organization}


@pytest.mark.parametrize(
    ("region", "zone", "prefixes"),
    [
        ("cn-north-1", "cnn1-az1", {"ec2": "cn.com.amazonaws", "eks": "cn.com.amazonaws", "ssm": "com.amazonaws"}),
        (
            "us-gov-west-1",
            "usgw1-az1",
            {"ec2": "com.amazonaws", "ssm": "com.amazonaws", "aps-workspaces": "com.amazonaws"},
        ),
    ],
)
def test_endpoints_have_the_names_of_their_partition(region: str, zone: str, prefixes: dict[str, str]) -> None:
    """aws-ec2/lib/vpc-endpoint.ts of aws-cdk-lib 2.275.0; AWS has no Managed Prometheus in China."""
    partition = "aws-cn" if region.startswith("cn-") else "aws-us-gov"
    account = "123456789012"
    text = (ROOT / "examples" / "eks-private.yaml").read_text()
    file = yaml.safe_load(text)
    file.update(region=region, zone=zone, nodes={"train": {"type": "p4d.24xlarge", "count": 2}})
    file["kubernetes"] = {
        "admins": [f"arn:{partition}:iam::{account}:role/platform"],
        "registry": f"{account}.dkr.ecr.{region}.amazonaws.com{'.cn' * (partition == 'aws-cn')}/x",
    }
    file["observability"] = {"profile": "none"}
    file = {
        key: file[key] for key in ("name", "region", "zone", "orchestrator", "nodes", "kubernetes", "observability")
    }
    cluster = clusterfile.loads(yaml.safe_dump({**file, "network": {"internet": False}}), "c.yaml")
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S", env=cdk.Environment(account=account, region=region))
    Network.from_cluster_file(stack, cluster)
    names = [
        item["Properties"]["ServiceName"]
        for item in resources_of(stack).values()
        if item["Type"] == "AWS::EC2::VPCEndpoint" and item["Properties"].get("VpcEndpointType") == "Interface"
    ]
    assert {f"{prefix}.{region}.{service}" for service, prefix in prefixes.items()} <= {*names}
    assert any("aps" in name for name in names) is (partition != "aws-cn")


def test_a_canary_reports_through_the_endpoint_of_a_perimeter(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    canary = PERIMETER.replace("on-demand", "cr-0123456789abcdef0, canary: true")
    text = f"{canary}image: ami-0123456789abcdef0\nperimeter: {{organization: o-a1b2c3d4e5}}"
    _, policies = perimeter_of(stack, template, text)
    assert [row["Action"] for row in policies["s3"] if row["Sid"] == "Signals"] == ["s3:PutObject"]


def test_a_cluster_without_perimeter_reaches_everything(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    egress, policies = perimeter_of(stack, template, PERIMETER)
    assert egress == {"0.0.0.0/0 -1 None"}
    assert not policies


def test_endpoints_of_a_private_cluster_take_principals_of_the_perimeter_only(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    text = (ROOT / "examples" / "eks-private.yaml").read_text()
    egress, policies = perimeter_of(stack, template, text)
    assert egress == PRIVATE_EGRESS | {"0.0.0.0/0 tcp 443"}
    for service in ("autoscaling", "ec2", "elasticloadbalancing", "fsx", "ssmmessages"):
        (statement,) = policies[service]
        assert list(statement["Condition"]["StringEquals"]) == ["aws:PrincipalAccount"], service
    assert "eks-auth" not in policies
    (signals,) = [row for row in policies["s3"] if row["Sid"] == "Signals"]
    resource = json.dumps(stack.resolve(signals["Resource"]))
    assert "cloudformation-waitcondition-" in resource
    assert ":stack/*" in resource
    assert stack.account in resource or "AWS::AccountId" in resource


def test_ports_of_public_addresses_are_ports(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"public_ports\[0\] must be 1 to 65535, got 0"):
        EfaSecurityGroup(stack, "Nodes", vpc=ec2.Vpc(stack, "Vpc"), public_ports=[0])
