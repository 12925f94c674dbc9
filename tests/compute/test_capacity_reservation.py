"""Capacity reservations, and the placement groups that nodes are in."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from ultracluster import compute
from ultracluster.catalogue.ec2 import Interface
from ultracluster.network import EfaSecurityGroup


@pytest.fixture
def group(stack: cdk.Stack) -> ec2.ISecurityGroup:
    return EfaSecurityGroup(stack, "Nodes", vpc=ec2.Vpc(stack, "Vpc"))


def data(template: Template) -> dict[str, Any]:
    (resource,) = template.find_resources("AWS::EC2::LaunchTemplate").values()
    result: dict[str, Any] = resource["Properties"]["LaunchTemplateData"]
    return result


def reserve(stack: cdk.Stack, **more: Any) -> compute.CapacityReservation:
    wanted: dict[str, Any] = {"instance_type": "p5.48xlarge", "zone": "use2-az1", "instances": 8, **more}
    return compute.CapacityReservation(stack, "Reserved", **wanted)


def test_nodes_target_the_reservation_that_they_use(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    reserved = reserve(stack)
    compute.NodeGroupTemplate(
        stack, "Train", instance_type="p5.48xlarge", capacity=reserved.capacity, security_groups=[group]
    )
    ((name, _),) = template().find_resources("AWS::EC2::CapacityReservation").items()
    target = data(template())["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": {"Fn::GetAtt": [name, "Id"]}}
    assert "Placement" not in data(template())


def test_nodes_start_in_the_placement_group_that_is_reserved_in(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    reserved = reserve(stack, placement_group="cluster")
    compute.NodeGroupTemplate(
        stack, "Train", instance_type="p5.48xlarge", capacity=reserved.capacity, security_groups=[group]
    )
    ((name, _),) = template().find_resources("AWS::EC2::PlacementGroup").items()
    assert name in str(data(template())["Placement"]["GroupName"])
    template().has_resource_properties(
        "AWS::EC2::CapacityReservation",
        {"PlacementGroupArn": {"Fn::Join": ["", Match.array_with([Match.string_like_regexp(":placement-group/")])]}},
    )


def test_an_open_reservation_in_a_group_is_matched_from_within_it(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    reserved = reserve(stack, placement_group="cluster", match="open")
    compute.NodeGroupTemplate(
        stack, "Train", instance_type="p5.48xlarge", capacity=reserved.capacity, security_groups=[group]
    )
    written = data(template())
    assert written["CapacityReservationSpecification"] == {"CapacityReservationPreference": "open"}
    assert "Placement" in written
    template().resource_count_is("AWS::EC2::PlacementGroup", 1)


def test_rejects_a_reservation_that_ec2_would_all_reasons_at_once(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"(?s)Stack/Reserved: .*UltraServers only.*1 to 1,000, got 0.*cluster place"):
        reserve(stack, instance_type="p6e-gb200.36xlarge", instances=0, placement_group="cluster")


@pytest.mark.parametrize("strategy", ["partition", "spread"])
def test_nodes_without_gpus_can_be_kept_apart(
    strategy: Any, stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack, "Data", instance_type="m7i.8xlarge", placement_group=strategy, security_groups=[group]
    )
    template().has_resource_properties("AWS::EC2::PlacementGroup", {"Strategy": strategy})


@pytest.mark.parametrize("strategy", ["partition", "spread"])
def test_rejects_keeping_gpus_apart(strategy: Any, stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(ValueError, match="nodes with GPUs need to be close"):
        compute.NodeGroupTemplate(
            stack, "Train", instance_type="p5.48xlarge", placement_group=strategy, security_groups=[group]
        )


def test_rejects_a_group_that_keeps_nodes_out_of_their_reservation(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    reserved = compute.TargetedReservation(reservation_id="cr-0123456789abcdef0", placement_group="theirs")
    with pytest.raises(
        ValueError, match="was created in the placement group theirs, and instances in mine do not match"
    ):
        compute.NodeGroupTemplate(
            stack,
            "Train",
            instance_type="p5.48xlarge",
            capacity=reserved,
            placement_group=compute.NamedGroup(name="mine"),
            security_groups=[group],
        )
    with pytest.raises(ValueError, match="would keep the nodes out of cr-0123456789abcdef0"):
        compute.NodeGroupTemplate(
            stack,
            "Other",
            instance_type="p5.48xlarge",
            capacity=compute.TargetedReservation(reservation_id="cr-0123456789abcdef0"),
            placement_group="cluster",
            security_groups=[group],
        )


def test_rejects_everything_that_is_wrong_with_a_template_at_once(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(
        ValueError, match=r"(?s)subnet must be left out.*for arm64.*these interfaces: card 0 offers.*no capacity type"
    ):
        compute.NodeGroupTemplate(
            stack,
            "Train",
            instance_type="p6-b300.48xlarge",
            service="eks-managed",
            capacity=compute.InterruptibleReservation(reservation_id="cr-0123456789abcdef0"),
            layout=[Interface(0, 0, "efa")],
            subnet=ec2.Vpc(stack, "Other").private_subnets[0],
            image=compute.Image(id="ami-0123456789abcdef0", architecture="arm64"),
            security_groups=[group],
        )


def test_interfaces_of_your_own_are_taken_when_the_cards_allow(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    rows = [Interface(1, 0, "efa"), Interface(0, 0, "interface")]
    compute.NodeGroupTemplate(stack, "Train", instance_type="p6-b300.48xlarge", layout=rows, security_groups=[group])
    written = data(template())["NetworkInterfaces"]
    assert [(row["NetworkCardIndex"], row["InterfaceType"]) for row in written] == [(0, "interface"), (1, "efa")]
