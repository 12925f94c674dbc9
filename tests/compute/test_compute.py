import json
import subprocess
from collections.abc import Callable
from email import message_from_string
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from hypothesis import given
from hypothesis import strategies as st

from ultracluster import compute
from ultracluster.boot import Mount, Volume
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, LAYOUTS, Layout, interfaces
from ultracluster.compute._boot import USER_DATA_LIMIT_BYTES
from ultracluster.network import EfaSecurityGroup
from ultracluster.planning.capacity import TrainingPlan

RESERVATION = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/pool"


@pytest.fixture
def group(stack: cdk.Stack) -> ec2.ISecurityGroup:
    return EfaSecurityGroup(stack, "Nodes", vpc=ec2.Vpc(stack, "Vpc"))


def data(template: Callable[[], Template]) -> dict[str, Any]:
    (template_resource,) = template().find_resources("AWS::EC2::LaunchTemplate").values()
    result: dict[str, Any] = template_resource["Properties"]["LaunchTemplateData"]
    return result


def possible() -> list[tuple[str, Layout]]:
    pairs: list[tuple[str, Layout]] = []
    for name in INSTANCE_TYPES:
        for layout in LAYOUTS:
            try:
                interfaces(name, layout)
            except ValueError:
                continue
            pairs.append((name, layout))
    return pairs


@pytest.mark.parametrize(("name", "layout"), possible())
def test_a_node_gets_the_interfaces_of_its_layout_each_with_the_groups(
    name: str, layout: Layout, stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack,
        "Train",
        instance_type=name,
        layout=layout,
        capacity=compute.UltraServerBlock(reservation_id=RESERVATION) if name.startswith("p6e") else None,
        security_groups=[group],
        placement_group=None,
    )
    written = data(template)["NetworkInterfaces"]
    assert [(i["NetworkCardIndex"], i["DeviceIndex"], i["InterfaceType"]) for i in written] == [
        (row.card, row.device, row.kind) for row in interfaces(name, layout)
    ]
    assert all(i["Groups"] == [stack.resolve(group.security_group_id)] for i in written)
    assert "SecurityGroupIds" not in data(template)


def test_efa_only_interfaces_carry_no_address_settings(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5en.48xlarge", security_groups=[group])
    for interface in data(template)["NetworkInterfaces"]:
        assert not {key for key in interface if "Address" in key or "Prefix" in key}


def test_the_subnet_is_left_out_unless_given(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=[group])
    assert all("SubnetId" not in i for i in data(template)["NetworkInterfaces"])


def test_the_metadata_service_wants_tokens_and_the_disk_is_encrypted(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=[group])
    assert data(template)["MetadataOptions"]["HttpTokens"] == "required"
    assert all(disk["Ebs"]["Encrypted"] is True for disk in data(template)["BlockDeviceMappings"])


def test_nodes_bought_on_demand_share_a_cluster_placement_group(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=[group])
    ((name, group_resource),) = template().find_resources("AWS::EC2::PlacementGroup").items()
    assert group_resource["Properties"]["Strategy"] == "cluster"
    assert data(template)["Placement"] == {"GroupName": {"Ref": name}} or name in str(data(template)["Placement"])


def test_a_tag_reaches_no_placement_group_as_its_change_would_replace_the_nodes(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    cdk.Tags.of(stack).add("team", "research")
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=[group])
    zone = "use2-az1"
    compute.CapacityReservation(
        stack, "Odcr", instance_type="p5.48xlarge", instances=2, zone=zone, placement_group="cluster"
    )
    groups = template().find_resources("AWS::EC2::PlacementGroup").values()
    assert [set(resource["Properties"]) for resource in groups] == [{"Strategy"}] * 2


def test_nodes_without_efa_get_no_placement_group(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(stack, "Login", instance_type="c7i.2xlarge", security_groups=[group])
    assert "Placement" not in data(template)


@pytest.mark.parametrize(
    "capacity",
    [
        compute.CapacityBlock(reservation_id=RESERVATION),
        compute.UltraServerBlock(reservation_id=RESERVATION),
    ],
)
def test_a_capacity_block_is_targeted_and_never_placed(
    capacity: compute.Capacity, stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    name = "p6e-gb200.36xlarge" if isinstance(capacity, compute.UltraServerBlock) else "p6-b200.48xlarge"
    compute.NodeGroupTemplate(stack, "Train", instance_type=name, capacity=capacity, security_groups=[group])
    written = data(template)
    assert written["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert written["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
    }
    assert written["InstanceType"] == name
    assert "Placement" not in written
    template().resource_count_is("AWS::EC2::PlacementGroup", 0)


def test_an_odcr_is_targeted_without_a_market_type(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack,
        "Train",
        instance_type="p5.48xlarge",
        capacity=compute.TargetedReservation(reservation_id=RESERVATION),
        security_groups=[group],
    )
    written = data(template)
    assert "InstanceMarketOptions" not in written
    assert written["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": RESERVATION}
    }
    assert "Placement" not in written


def test_an_odcr_takes_the_placement_group_it_was_made_in(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack,
        "Train",
        instance_type="p5.48xlarge",
        capacity=compute.TargetedReservation(reservation_id=RESERVATION),
        placement_group=ec2.PlacementGroup.from_placement_group_name(stack, "Theirs", "theirs"),
        security_groups=[group],
    )
    assert data(template)["Placement"] == {"GroupName": "theirs"}


def test_a_reservation_group_stands_inside_the_target(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack,
        "Train",
        instance_type="p5.48xlarge",
        capacity=compute.ReservationGroup(arn=GROUP),
        security_groups=[group],
    )
    assert data(template)["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": GROUP}
    }


def test_rejects_a_placement_group_beside_a_capacity_block(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(ValueError, match="a placement group must be left out"):
        compute.NodeGroupTemplate(
            stack,
            "Train",
            instance_type="p5.48xlarge",
            capacity=compute.CapacityBlock(reservation_id=RESERVATION),
            placement_group=ec2.PlacementGroup(stack, "Mine"),
            security_groups=[group],
        )


def test_rejects_a_training_plan_on_ec2(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    plan = TrainingPlan(arn="arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine")
    with pytest.raises(ValueError, match="training plan is for HyperPod"):
        compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", capacity=plan, security_groups=[group])


def test_rejects_an_unknown_type_with_the_path_of_the_construct(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(ValueError, match=r"p5.48xlarge"):
        compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlrage", security_groups=[group])


def test_rejects_a_layout_that_the_type_cannot_have(stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(ValueError, match=r"Stack/Train: .*all-efa"):
        compute.NodeGroupTemplate(
            stack, "Train", instance_type="p6e-gb200.36xlarge", layout="all-efa", security_groups=[group]
        )


def test_rejects_nodes_without_a_security_group(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="at least one group"):
        compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=[])


def test_every_mount_guards_its_mount_point_in_shell_that_bash_can_read() -> None:
    mount = Mount(device="fs@tcp:/m", path="/my data", type="lustre", options="noatime")
    text = compute.user_data(mounts=[mount])
    config = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert config["mounts"] == [["fs@tcp:/m", "/my data", "lustre", "noatime", "0", "0"]]
    assert "chattr +i '/my data'" in config["bootcmd"][0]
    for line in [*config["bootcmd"], *config["runcmd"]]:
        assert subprocess.run(["bash", "-n", "-c", line], capture_output=True).returncode == 0, line
    # Nothing is mounted here, and that is no error of the boot.
    assert subprocess.run(["bash", "-c", config["runcmd"][-1]], capture_output=True).returncode == 0


def test_instances_volumes_and_interfaces_carry_the_tags(
    stack: cdk.Stack, group: ec2.ISecurityGroup, template: Callable[[], Template]
) -> None:
    compute.NodeGroupTemplate(
        stack, "Train", instance_type="p5.48xlarge", security_groups=[group], tags={"project": "llama"}
    )
    specifications = data(template)["TagSpecifications"]
    assert {s["ResourceType"] for s in specifications} == {"instance", "volume", "network-interface"}
    assert all({"Key": "project", "Value": "llama"} in s["Tags"] for s in specifications)


@given(st.lists(st.text(max_size=40).filter(lambda text: text.strip("/")).map("/{}".format), max_size=3, unique=True))
def test_user_data_is_mime_for_any_mounts(paths: list[str]) -> None:
    mounts = [Mount(device="fs@tcp:/m", path=p, type="lustre", options="noatime") for p in paths]
    message = message_from_string(compute.user_data(mounts=mounts))
    assert [part.get_content_type() for part in message.walk()] == ["multipart/mixed", "text/cloud-config"]


def test_rejects_user_data_over_the_limit_of_ec2() -> None:
    big = Mount(device="x" * USER_DATA_LIMIT_BYTES, path="/fsx", type="lustre", options="noatime")
    with pytest.raises(ValueError, match="at most 16384 bytes"):
        compute.user_data(mounts=[big])


@pytest.mark.parametrize("text", [ec2.UserData.for_windows, lambda: "<powershell>Get-Disk</powershell>"])
def test_rejects_user_data_for_windows(text: Callable[[], Any], stack: cdk.Stack, group: ec2.ISecurityGroup) -> None:
    with pytest.raises(ValueError, match="user_data must be for Linux"):
        compute.NodeGroupTemplate(
            stack, "Windows", instance_type="p5.48xlarge", security_groups=[group], user_data=text()
        )


def test_the_image_of_aws_warns_that_it_moves(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    newest = compute.newest_image("pcs", "x86_64")
    first, second = compute.image_id(stack, newest), compute.image_id(stack, newest)
    assert stack.resolve(first) == stack.resolve(second)
    parameter = template().to_json()["Parameters"][stack.resolve(first)["Ref"]]
    assert parameter["Type"] == "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>"


@pytest.mark.parametrize("paths", [["/"], ["//"], ["fsx"], [""], ["/fsx", "/fsx"]])
def test_mounts_have_directories_of_their_own(paths: list[str]) -> None:
    mounts = [Mount(device="d", path=path, type="lustre", options="noatime") for path in paths]
    with pytest.raises(ValueError, match=r"two mounts are at|a mount needs a directory of its own below /"):
        compute.user_data(mounts=mounts)


@pytest.mark.parametrize("name", ["Bad_Name", "", "-a", "a-", "a" * 64])
def test_a_volume_has_a_name_that_kubernetes_takes(name: str) -> None:
    with pytest.raises(ValueError, match=r"name has (lower-case|at most 63).*\[kubernetes-name\]"):
        Volume(name=name, driver="fsx.csi.aws.com", handle="fs-0123456789abcdef0")
