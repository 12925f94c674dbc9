import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Annotations, Match, Template

from ultracluster import compute, storage
from ultracluster.boot import EfaBundle, LustreClient
from ultracluster.network import EfaSecurityGroup
from ultracluster.planning.home import size_openzfs
from ultracluster.planning.lustre import LustreGoal, plan_lustre
from ultracluster.rules import Refusal

IMAGE = "ami-0123456789abcdef0"
RESERVATION = "cr-0123456789abcdef0"


@pytest.fixture
def vpc(stack: cdk.Stack) -> ec2.Vpc:
    return ec2.Vpc(stack, "Vpc", max_azs=1)


def group(stack: cdk.Stack, network: ec2.Vpc, **given: Any) -> compute.AutoScalingNodeGroup:
    arguments: dict[str, Any] = {"instance_type": "p5en.48xlarge", "count": 2, "image": IMAGE, "vpc": network}
    return compute.AutoScalingNodeGroup(stack, "Train", **{**arguments, "subnet": network.private_subnets[0], **given})


def sizes(template: Template) -> tuple[str, str, str]:
    (resource,) = template.find_resources("AWS::AutoScaling::AutoScalingGroup").values()
    properties = resource["Properties"]
    return properties["MinSize"], properties["DesiredCapacity"], properties["MaxSize"]


def test_starts_its_nodes_at_a_fixed_size(stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]) -> None:
    group(stack, vpc)
    assert sizes(template()) == ("2", "2", "2")


@pytest.mark.parametrize(("active", "desired"), [(False, "0"), (True, "2")])
def test_nodes_of_a_capacity_block_start_when_it_is_active(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template], active: bool, desired: str
) -> None:
    ends = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
    group(stack, vpc, capacity=compute.CapacityBlock(reservation_id=RESERVATION, active=active, ends=ends))
    assert sizes(template()) == ("0", desired, "2")
    template().has_resource_properties("AWS::AutoScaling::ScheduledAction", {"StartTime": "2026-12-01T10:00:00Z"})


def test_mounts_file_systems_and_opens_their_rules(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]
) -> None:
    subnet = vpc.private_subnets[0]
    spec = plan_lustre(LustreGoal(throughput_mb_per_s=2_000)).spec
    lustre = storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=subnet, spec=spec)
    home = storage.OpenZfsHome(
        stack, "Home", vpc=vpc, subnet=subnet, size=size_openzfs(), client_ranges=["10.0.0.0/16"]
    )
    nodes = group(stack, vpc, mounts={"/home": home, "/fsx": lustre})
    (data,) = template().find_resources("AWS::EC2::LaunchTemplate").values()
    boot = json.dumps(data["Properties"]["LaunchTemplateData"]["UserData"])
    assert "/fsx" in boot
    assert "/home" in boot
    groups = [resource.connections.security_groups[0] for resource in (nodes, lustre, home)]
    clients, *servers = (stack.resolve(group.security_group_id) for group in groups)
    rules = [rule["Properties"] for rule in template().find_resources("AWS::EC2::SecurityGroupIngress").values()]
    opened = [rule["GroupId"] for rule in rules if rule["SourceSecurityGroupId"] == clients]
    assert all(server in opened for server in servers)


def lustre_with_efa(stack: cdk.Stack, vpc: ec2.Vpc) -> storage.LustreFileSystem:
    spec = plan_lustre(LustreGoal(throughput_mb_per_s=20_000)).spec
    return storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=vpc.private_subnets[0], spec=spec)


def test_the_default_image_needs_a_bundle_for_lustre_with_efa(stack: cdk.Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(Refusal, match=r"bundle=boot\.EfaBundle\(url='s3://.*\[lustre-efa-tool\]"):
        group(stack, vpc, image=None, mounts={"/fsx": lustre_with_efa(stack, vpc)})


def test_nodes_may_read_a_bundle_in_s3(stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]) -> None:
    client = LustreClient(bundle=EfaBundle(url="s3://tools/efa.zip", sha256="0" * 64))
    group(stack, vpc, image=None, mounts={"/fsx": lustre_with_efa(stack, vpc)}, lustre=client)
    assert "s3:::tools/efa.zip" in json.dumps(template().find_resources("AWS::IAM::Policy"))


def test_what_is_added_after_construction_reaches_the_template(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]
) -> None:
    nodes = group(stack, vpc)
    bastion = ec2.SecurityGroup(stack, "Bastion", vpc=vpc)
    nodes.add_security_group(bastion)
    name = cdk.CfnParameter(stack, "Name").value_as_string
    nodes.add_user_data("systemctl enable --now my-agent", f"echo {name} >/etc/my-name")
    nodes.role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name("CloudWatchAgentServerPolicy"))
    nodes.role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=["*"]))
    (launched,) = template().find_resources("AWS::EC2::LaunchTemplate").values()
    data = launched["Properties"]["LaunchTemplateData"]
    added = stack.resolve(bastion.security_group_id)
    assert all(added in interface["Groups"] for interface in data["NetworkInterfaces"])
    text = json.dumps(data["UserData"])
    assert "systemctl enable --now my-agent" in text
    assert '{"Ref": "Name"}' in text
    (role,) = template().find_resources("AWS::IAM::Role").values()
    assert "CloudWatchAgentServerPolicy" in json.dumps(role["Properties"]["ManagedPolicyArns"])
    assert "s3:ListBucket" in json.dumps(template().find_resources("AWS::IAM::Policy"))


def test_user_data_that_outgrows_the_limit_later_is_rejected_at_synthesis(stack: cdk.Stack, vpc: ec2.Vpc) -> None:
    group(stack, vpc).add_user_data("x" * 20_000)
    with pytest.raises(RuntimeError, match="user data must be at most 16384 bytes"):
        Template.from_stack(stack)


def test_the_policy_of_a_key_allows_auto_scaling(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]
) -> None:
    group(stack, vpc, root_volume=compute.RootVolume(key=kms.Key(stack, "Key")))
    policy = next(iter(template().find_resources("AWS::KMS::Key").values()))["Properties"]["KeyPolicy"]
    statements = [
        statement
        for statement in policy["Statement"]
        if "AWSServiceRoleForAutoScaling" in json.dumps(statement["Principal"])
    ]
    assert [statement["Action"] for statement in statements] == [
        ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
        "kms:CreateGrant",
    ]


def test_warns_that_the_policy_of_an_imported_key_must_allow_auto_scaling(stack: cdk.Stack, vpc: ec2.Vpc) -> None:
    arn = "arn:aws:kms:us-east-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    group(stack, vpc, root_volume=compute.RootVolume(key=kms.Key.from_key_arn(stack, "Key", arn)))
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp("AWSServiceRoleForAutoScaling"))


def test_rejects_a_key_of_another_region(stack: cdk.Stack, vpc: ec2.Vpc) -> None:
    arn = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    with pytest.raises(ValueError, match=r"root_volume.key must be in us-east-2"):
        group(stack, vpc, root_volume=compute.RootVolume(key=kms.Key.from_key_arn(stack, "Key", arn)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": "two"}, "count must be a whole number, got 'two'"),
        ({"count": cdk.Token.as_number({"Ref": "Count"})}, "count must be known at synthesis, got a token"),
        ({"vpc": None}, "vpc must be given to create a security group in it"),
        ({"subnet": "subnet-0123456789abcdef0"}, "subnet must be an ISubnet, got 'subnet-"),
        ({"mounts": {"/fsx": "fs-0123456789abcdef0"}}, r"mounts\['/fsx'\] must be a file system such as"),
        ({"instance_type": 5}, "instance_type must be a name such as p5.48xlarge"),
        ({"image": 5}, "image must be ami-..., a compute.Image or an ec2.IMachineImage, got 5"),
        ({"capacity": "cheap"}, "capacity must be on-demand, spot, cr-..., a CapacityReservation"),
        (
            {"capacity": compute.CapacityBlock(reservation_id=RESERVATION, instances=1)},
            "count must be at most the 1 instances that .* holds, got 2",
        ),
    ],
    # The text of a token differs from process to process.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rejects_wrong_arguments_by_name(stack: cdk.Stack, vpc: ec2.Vpc, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"Stack/Train(/Template)?: {message}"):
        group(stack, vpc, **given)


def test_a_security_group_that_is_added_to_one_of_two_equal_node_groups_reaches_that_one_alone(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template]
) -> None:
    nodes = ec2.SecurityGroup(stack, "Nodes", vpc=vpc, allow_all_outbound=False)
    nodes.add_ingress_rule(nodes, ec2.Port.all_traffic())
    nodes.add_egress_rule(nodes, ec2.Port.all_traffic())
    first, _ = (compute.NodeGroupTemplate(stack, id, instance_type="p5.48xlarge", security_groups=nodes) for id in "ab")
    bastion = ec2.SecurityGroup(stack, "Bastion", vpc=vpc)
    first.connections.add_security_group(bastion)
    launched = [data["Properties"] for data in template().find_resources("AWS::EC2::LaunchTemplate").values()]
    interfaces = [properties["LaunchTemplateData"]["NetworkInterfaces"] for properties in launched]
    numbers = [{len(interface["Groups"]) for interface in each} for each in interfaces]
    assert sorted(numbers, key=max) == [{1}, {2}]


def test_node_groups_of_a_stack_that_differ_in_one_argument_have_interfaces_of_their_own(
    stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    network = ec2.Vpc(stack, "Two", availability_zones=["us-east-2a", "us-east-2b"])
    here, there = network.private_subnets
    nodes, login = (EfaSecurityGroup(stack, id, vpc=network) for id in ("Nodes", "Login"))
    base: dict[str, Any] = {"instance_type": "p5.48xlarge", "subnet": here, "security_groups": nodes}
    others: list[dict[str, Any]] = [{}, {"subnet": there}, {"security_groups": [login, nodes]}]
    others.append({"instance_type": "p4d.24xlarge"})
    expected = []
    for index, other in enumerate(others):
        created = compute.NodeGroupTemplate(stack, f"Group{index}", **base | other)
        ids = [stack.resolve(each.security_group_id) for each in created.security_groups]
        expected.append((len(created.interfaces), ids, stack.resolve(created.subnet_id)))
    launched = [
        data["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
        for _, data in sorted(template().find_resources("AWS::EC2::LaunchTemplate").items())
    ]
    assert [(len(each), each[0]["Groups"], each[0]["SubnetId"]) for each in launched] == expected
    assert all(
        (each["Groups"], each["SubnetId"]) == (rows[0]["Groups"], rows[0]["SubnetId"])
        for rows in launched
        for each in rows
    )


@pytest.mark.parametrize(("priority", "team"), [(10, "llama"), (100, "all")])
def test_tags_of_a_node_group_have_the_priority_of_tags_of_a_resource_of_the_cdk(
    stack: cdk.Stack, vpc: ec2.Vpc, template: Callable[[], Template], priority: int, team: str
) -> None:
    # 50: https://docs.aws.amazon.com/cdk/v2/guide/tagging.html (read 2026-11-28)
    nodes = EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    tags = {"Name": "first", "team": "llama"}
    compute.NodeGroupTemplate(stack, "Train", instance_type="p5.48xlarge", security_groups=nodes, tags=tags)
    cdk.Tags.of(stack).add("team", "all", priority=priority)
    (data,) = template().find_resources("AWS::EC2::LaunchTemplate").values()
    (tagged,) = data["Properties"]["TagSpecifications"]
    assert tagged["Tags"] == [{"Key": "Name", "Value": "first"}, {"Key": "team", "Value": team}]
