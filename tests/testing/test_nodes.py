"""Assertions on EFA, capacity reservations and public addresses, each with templates that break them."""

import copy
import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2

from support import EXAMPLES
from support.templates import templates
from ultracluster import clusterfile, compute, network
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.testing import assert_efa_wired, assert_no_public_nodes, assert_reserved

ASSERTIONS = (assert_efa_wired, assert_reserved, assert_no_public_nodes)


def training_stack() -> cdk.Stack:
    """Two p5en nodes in an Auto Scaling group of a consumer's app."""
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Training")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    group = network.EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    template = compute.NodeGroupTemplate(
        stack,
        "Train",
        instance_type="p5en.48xlarge",
        capacity=compute.TargetedReservation(reservation_id="cr-0123456789abcdef0"),
        security_groups=[group],
        subnet=vpc.private_subnets[0],
    )
    autoscaling.CfnAutoScalingGroup(
        stack,
        "Group",
        min_size="2",
        max_size="2",
        vpc_zone_identifier=[vpc.private_subnets[0].subnet_id],
        launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
            launch_template_id=template.launch_template_id, version=template.version_number
        ),
    )
    return stack


@cache
def _template() -> dict[str, Any]:
    return dict(assertions.Template.from_stack(training_stack()).to_json())


@pytest.fixture
def template() -> dict[str, Any]:
    return copy.deepcopy(_template())


def of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in template["Resources"].values() if resource["Type"] == kind]


def data_of(template: dict[str, Any]) -> dict[str, Any]:
    (properties,) = of_type(template, "AWS::EC2::LaunchTemplate")
    return cast(dict[str, Any], properties["LaunchTemplateData"])


def name_of(template: dict[str, Any], kind: str) -> str:
    names = [id for id, resource in template["Resources"].items() if resource["Type"] == kind]
    assert len(names) == 1
    return str(names[0])


@pytest.mark.parametrize("check", ASSERTIONS)
def test_accepts_a_stack_its_template_and_assertions(check: Callable[[Any], None]) -> None:
    stack = training_stack()
    template = assertions.Template.from_stack(stack)
    for subject in (stack, template, template.to_json()):
        check(subject)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_accepts_every_example_that_starts_gpu_nodes(file: Any) -> None:
    cluster = clusterfile.load(file)
    types = [group.instance_type for group in cluster.node_groups]
    for name, template in templates(cluster).items():
        if name.endswith("-Compute") and of_type(template, "AWS::EC2::LaunchTemplate"):
            assert_no_public_nodes(template)
            data = [properties["LaunchTemplateData"] for properties in of_type(template, "AWS::EC2::LaunchTemplate")]
            if any(item.get("InstanceType", "").startswith("p") for item in data):
                assert_efa_wired(template, types=types)


def hyperpod() -> dict[str, Any]:
    """Template with a HyperPod cluster, its security group and its subnet."""
    rule = {"IpProtocol": "-1", "GroupId": {"Ref": "Group"}}
    vpc = {"SecurityGroupIds": [{"Ref": "Group"}], "Subnets": [{"Ref": "Subnet"}]}
    train = {"InstanceGroupName": "train", "InstanceType": "ml.p5en.48xlarge", "TrainingPlanArn": "arn:plan"}
    login = {"InstanceGroupName": "login", "InstanceType": "ml.m7i.2xlarge"}
    resources = {
        "Group": ("AWS::EC2::SecurityGroup", {}),
        "In": ("AWS::EC2::SecurityGroupIngress", {**rule, "SourceSecurityGroupId": {"Ref": "Group"}}),
        "Out": ("AWS::EC2::SecurityGroupEgress", {**rule, "DestinationSecurityGroupId": {"Ref": "Group"}}),
        "Subnet": ("AWS::EC2::Subnet", {}),
        "Pod": ("AWS::SageMaker::Cluster", {"InstanceGroups": [login, train], "VpcConfig": vpc}),
    }
    return {"Resources": {name: {"Type": type, "Properties": data} for name, (type, data) in resources.items()}}


def test_accepts_hyperpod_with_a_training_plan() -> None:
    for check in ASSERTIONS:
        check(hyperpod())


def test_rejects_hyperpod_nodes_that_the_group_keeps_apart() -> None:
    template = hyperpod()
    del template["Resources"]["In"]
    with pytest.raises(AssertionError, match="Pod, instance group train: no security group of an EFA interface allows"):
        assert_efa_wired(template)


def test_rejects_hyperpod_nodes_without_a_training_plan() -> None:
    template = hyperpod()
    del template["Resources"]["Pod"]["Properties"]["InstanceGroups"][1]["TrainingPlanArn"]
    with pytest.raises(AssertionError, match=r"Pod, instance group train: no reservation; .*TrainingPlanArn"):
        assert_reserved(template)


def test_rejects_hyperpod_nodes_in_a_public_subnet() -> None:
    template = hyperpod()
    template["Resources"]["Subnet"]["Properties"]["MapPublicIpOnLaunch"] = True
    with pytest.raises(AssertionError, match="Pod, instance group login: the subnet Subnet assigns public addresses"):
        assert_no_public_nodes(template)


@pytest.mark.parametrize("check", ASSERTIONS)
def test_rejects_a_template_with_nothing_to_check(check: Callable[[Any], None]) -> None:
    with pytest.raises(AssertionError, match="nothing to check"):
        check({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})


@pytest.mark.parametrize("check", ASSERTIONS)
def test_rejects_a_name_to_ignore_that_is_not_there(check: Callable[..., None], template: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="ignore names no resource of the template: Trian"):
        check(template, ignore=["Trian"])


def test_a_template_without_efa_by_intention_is_ignored(template: dict[str, Any]) -> None:
    resources = template["Resources"]
    name = name_of(template, "AWS::EC2::LaunchTemplate")
    resources["Other"] = copy.deepcopy(resources[name])
    resources["Other"]["Properties"]["LaunchTemplateData"]["NetworkInterfaces"] = []
    with pytest.raises(AssertionError, match="Other: 0 of the 16 EFA devices"):
        assert_efa_wired(template)
    assert_efa_wired(template, ignore=["Other"])


@pytest.mark.parametrize("index", range(16))
def test_rejects_a_missing_efa_interface(template: dict[str, Any], index: int) -> None:
    interfaces = data_of(template)["NetworkInterfaces"]
    efa = [row for row in interfaces if row["InterfaceType"] != "interface"]
    interfaces.remove(efa[index])
    with pytest.raises(AssertionError, match=r"15 of the 16 EFA devices of p5en.48xlarge have an interface"):
        assert_efa_wired(template)


def test_rejects_nodes_without_interfaces(template: dict[str, Any]) -> None:
    del data_of(template)["NetworkInterfaces"]
    with pytest.raises(AssertionError, match="0 of the 16 EFA devices"):
        assert_efa_wired(template)


def test_rejects_an_interface_that_is_not_efa(template: dict[str, Any]) -> None:
    data_of(template)["NetworkInterfaces"][-1]["InterfaceType"] = "interface"
    with pytest.raises(AssertionError, match="15 of the 16"):
        assert_efa_wired(template)


def test_rejects_two_interfaces_on_one_card(template: dict[str, Any]) -> None:
    rows = data_of(template)["NetworkInterfaces"]
    rows[-1]["NetworkCardIndex"] = rows[-2]["NetworkCardIndex"]
    with pytest.raises(AssertionError, match="is there twice"):
        assert_efa_wired(template)


def test_rejects_a_primary_interface_without_an_address(template: dict[str, Any]) -> None:
    data_of(template)["NetworkInterfaces"] = [
        {"NetworkCardIndex": card, "DeviceIndex": 0, "InterfaceType": "efa-only"} for card in range(16)
    ]
    with pytest.raises(AssertionError, match="the primary interface needs an address"):
        assert_efa_wired(template)


@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_rejects_a_security_group_that_does_not_allow_itself(template: dict[str, Any], direction: str) -> None:
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] == f"AWS::EC2::SecurityGroup{direction}":
            del template["Resources"][name]
    with pytest.raises(AssertionError, match="allows all traffic from and to itself"):
        assert_efa_wired(template)


def test_rejects_a_rule_for_tcp_alone(template: dict[str, Any]) -> None:
    for rule in of_type(template, "AWS::EC2::SecurityGroupIngress"):
        rule["IpProtocol"] = "tcp"
    with pytest.raises(AssertionError, match="allows all traffic from and to itself"):
        assert_efa_wired(template)


def test_a_security_group_of_another_stack_is_not_checked(template: dict[str, Any]) -> None:
    for row in data_of(template)["NetworkInterfaces"]:
        row["Groups"] = [{"Fn::ImportValue": "Network:Nodes"}]
    assert_efa_wired(template)


def test_a_type_outside_of_the_catalogue_is_given(template: dict[str, Any]) -> None:
    data_of(template)["InstanceType"] = "p9.48xlarge"
    with pytest.raises(AssertionError, match=r"the catalogue has no type p9.48xlarge; pass types="):
        assert_efa_wired(template)
    assert_efa_wired(template, types=[dataclasses.replace(instance_type("p5en.48xlarge"), name="p9.48xlarge")])


def test_the_type_of_a_node_group_counts() -> None:
    template: dict[str, Any] = {
        "Resources": {
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {}}},
            "Group": {
                "Type": "AWS::EKS::Nodegroup",
                "Properties": {"InstanceTypes": ["p5en.48xlarge"], "LaunchTemplate": {"Id": {"Ref": "Template"}}},
            },
        }
    }
    with pytest.raises(AssertionError, match="Template: 0 of the 16 EFA devices"):
        assert_efa_wired(template)
    with pytest.raises(AssertionError, match="Template: no reservation"):
        assert_reserved(template)


def test_rejects_gpu_nodes_without_a_reservation(template: dict[str, Any]) -> None:
    del data_of(template)["CapacityReservationSpecification"]
    with pytest.raises(AssertionError, match="no reservation"):
        assert_reserved(template)


@pytest.mark.parametrize(
    "change",
    [
        {"InstanceMarketOptions": {"MarketType": "spot"}},
        {"CapacityReservationSpecification": {"CapacityReservationPreference": "none"}},
    ],
)
def test_rejects_capacity_outside_of_the_reservation(template: dict[str, Any], change: dict[str, Any]) -> None:
    data_of(template).update(change)
    with pytest.raises(AssertionError, match="starts instances outside of a reservation"):
        assert_reserved(template)


@pytest.mark.parametrize(("option", "market"), [("CAPACITY_BLOCK", None), ("ONDEMAND", "capacity-block")])
def test_rejects_a_purchase_option_that_contradicts_the_market_type(
    template: dict[str, Any], option: str, market: str | None
) -> None:
    if market:
        data_of(template)["InstanceMarketOptions"] = {"MarketType": market}
    name = name_of(template, "AWS::EC2::LaunchTemplate")
    template["Resources"]["Pcs"] = {
        "Type": "AWS::PCS::ComputeNodeGroup",
        "Properties": {"CustomLaunchTemplate": {"TemplateId": {"Ref": name}}, "PurchaseOption": option},
    }
    with pytest.raises(AssertionError, match=f"Pcs: purchase option {option}, but"):
        assert_reserved(template)


def test_a_resource_group_of_reservations_counts(template: dict[str, Any]) -> None:
    arn = "arn:aws:resource-groups:us-east-2:123456789012:group/blocks"
    data_of(template)["CapacityReservationSpecification"] = {
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": arn}
    }
    assert_reserved(template)


def test_nodes_without_gpus_need_no_reservation(template: dict[str, Any]) -> None:
    data_of(template)["InstanceType"] = "m7i.8xlarge"
    del data_of(template)["CapacityReservationSpecification"]
    with pytest.raises(AssertionError, match="no launch template with a GPU type"):
        assert_reserved(template)


@pytest.mark.parametrize("value", [True, "true"])
def test_rejects_an_interface_with_a_public_address(template: dict[str, Any], value: Any) -> None:
    data_of(template)["NetworkInterfaces"][0]["AssociatePublicIpAddress"] = value
    with pytest.raises(AssertionError, match="AssociatePublicIpAddress"):
        assert_no_public_nodes(template)


def public_subnet(template: dict[str, Any]) -> str:
    names = [
        id
        for id, resource in template["Resources"].items()
        if resource["Type"] == "AWS::EC2::Subnet" and resource["Properties"]["MapPublicIpOnLaunch"]
    ]
    return str(names[0])


def test_rejects_a_subnet_that_assigns_public_addresses(template: dict[str, Any]) -> None:
    subnet = public_subnet(template)
    for row in data_of(template)["NetworkInterfaces"]:
        row["SubnetId"] = {"Ref": subnet}
    with pytest.raises(AssertionError, match=f"the subnet {subnet} assigns public addresses"):
        assert_no_public_nodes(template)
    data_of(template)["NetworkInterfaces"][0]["AssociatePublicIpAddress"] = False
    assert_no_public_nodes(template)


def test_rejects_a_node_group_in_a_public_subnet(template: dict[str, Any]) -> None:
    of_type(template, "AWS::AutoScaling::AutoScalingGroup")[0]["VPCZoneIdentifier"] = [{"Ref": public_subnet(template)}]
    with pytest.raises(AssertionError, match="assigns public addresses"):
        assert_no_public_nodes(template)


def test_rejects_an_elastic_ip_of_an_instance(template: dict[str, Any]) -> None:
    template["Resources"]["Login"] = {"Type": "AWS::EC2::Instance", "Properties": {}}
    template["Resources"]["Address"] = {"Type": "AWS::EC2::EIP", "Properties": {"InstanceId": {"Ref": "Login"}}}
    with pytest.raises(AssertionError, match="Address: attaches a public address to Login"):
        assert_no_public_nodes(template)
    assert_no_public_nodes(template, ignore=["Login"])


def test_all_problems_come_at_once(template: dict[str, Any]) -> None:
    rows = data_of(template)["NetworkInterfaces"]
    del rows[-1]
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] == "AWS::EC2::SecurityGroupIngress":
            del template["Resources"][name]
    with pytest.raises(AssertionError) as error:
        assert_efa_wired(template)
    assert len(str(error.value).splitlines()) == 2
