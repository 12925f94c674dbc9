"""The EKS constructs: what they make, refuse, and leave to EKS."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as l2
from aws_cdk import aws_iam as iam
from clusterfile_data import RESERVATION
from template_lint import problems

from conftest import ROOT
from stacks.cluster_stacks import ClusterStacks
from ultracluster import clusterfile, compute, kubernetes, orchestration, patterns
from ultracluster.hardware import eks
from ultracluster.hardware.instance_type import Architecture
from ultracluster.planning import Capacity

BLOCK = "{reservation: cr-0123456789abcdef0, kind: capacity-block, instances: 8, ends: 2026-12-18}"
WAYS: dict[str, Capacity] = {
    "on-demand": compute.OnDemand(),
    "spot": compute.Spot(),
    "open reservation": compute.OpenReservation(),
    "targeted reservation": compute.TargetedReservation(reservation_id=RESERVATION),
    "reservation group": compute.ReservationGroup(arn="arn:aws:resource-groups:us-east-2:123456789012:group/pool"),
    "Capacity Block": compute.CapacityBlock(reservation_id=RESERVATION),
    "UltraServer": compute.UltraServerBlock(reservation_id=RESERVATION),
    "interruptible reservation": compute.InterruptibleReservation(reservation_id=RESERVATION),
    "training plan": compute.TrainingPlan(arn="arn:aws:sagemaker:us-east-2:123456789012:training-plan/mine"),
}


def templates(name: str, *changes: tuple[str, str]) -> dict[str, assertions.Template]:
    """The templates of an example, by the last part of their names."""
    text = (ROOT / "examples" / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    app = cdk.App(analytics_reporting=False)
    stacks = ClusterStacks(app, cluster=clusterfile.loads(text, "c.yaml"), account="123456789012")
    made = [stacks.network, stacks.storage, stacks.cluster, stacks.compute]
    return {stack.stack_name.rpartition("-")[2]: assertions.Template.from_stack(stack) for stack in made if stack}


def only(template: assertions.Template, kind: str, **wanted: Any) -> dict[str, Any]:
    (found,) = template.find_resources(kind, {"Properties": wanted} if wanted else {}).values()
    properties: dict[str, Any] = found["Properties"]
    return properties


@pytest.fixture(scope="module")
def minimal() -> dict[str, assertions.Template]:
    return templates("eks-minimal")


def test_a_cluster_is_private_encrypted_logged_and_lets_nobody_in_unnamed(minimal: Any) -> None:
    found = only(minimal["Cluster"], "AWS::EKS::Cluster")
    vpc = found["ResourcesVpcConfig"]
    assert (vpc["EndpointPrivateAccess"], vpc["EndpointPublicAccess"]) == (True, False)
    assert len(vpc["SubnetIds"]) == 2
    assert found["AccessConfig"] == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    assert found["EncryptionConfig"][0]["Resources"] == ["secrets"]
    assert len(found["Logging"]["ClusterLogging"]["EnabledTypes"]) == 5
    (entry,) = minimal["Cluster"].find_resources("AWS::EKS::AccessEntry").values()
    assert entry["Properties"]["PrincipalArn"] == "arn:aws:iam::123456789012:role/platform"


def test_the_two_subnets_of_the_control_plane_are_in_two_zones(minimal: Any) -> None:
    subnets = minimal["Network"].find_resources("AWS::EC2::Subnet").values()
    private = [one for one in subnets if "PublicSubnet" not in json.dumps(one["Properties"]["Tags"])]
    assert {one["Properties"]["AvailabilityZoneId"] for one in private} == {"use2-az1", "use2-az2"}


def test_no_function_runs_in_anybodys_account(minimal: Any) -> None:
    for template in minimal.values():
        template.resource_count_is("AWS::Lambda::Function", 0)
        assert not [one for one in template.to_json()["Resources"].values() if one["Type"].startswith("Custom::")]


def test_tier_and_bin_packing_are_what_the_file_says() -> None:
    found = only(templates("eks-512-gpus")["Cluster"], "AWS::EKS::Cluster")
    assert found["ControlPlaneScalingConfig"] == {"Tier": "tier-xl"}
    scoring = found["KubeSchedulerConfig"]["NodeResourcesFit"]["ScoringStrategy"]
    assert scoring["Type"] == "MostAllocated"
    assert found["ResourcesVpcConfig"]["PublicAccessCidrs"] == ["203.0.113.0/24"]


def test_the_nodes_of_512_gpus_are_64_with_16_efa_devices_and_one_address_each() -> None:
    compute_stack = templates("eks-512-gpus")["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["ScalingConfig"] == {"DesiredSize": 64, "MaxSize": 64, "MinSize": 64}
    assert group["AmiType"] == "AL2023_x86_64_NVIDIA"
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"}
    assert "InstanceTypes" not in group
    data = [
        one["Properties"]["LaunchTemplateData"]
        for one in compute_stack.find_resources("AWS::EC2::LaunchTemplate").values()
        if one["Properties"]["LaunchTemplateData"]["InstanceType"] == "p5en.48xlarge"
    ]
    (rows,) = [one["NetworkInterfaces"] for one in data]
    assert [row["InterfaceType"] for row in rows].count("efa-only") == 16
    assert [row["InterfaceType"] for row in rows].count("interface") == 1
    for row in rows:
        assert "SubnetId" not in row
        # The cluster's own group too, or the nodes never join.
        assert len(row["Groups"]) == 2
    assert {"Key": "nvidia.com/gpu", "Effect": "NO_SCHEDULE"} in group["Taints"]


def test_a_capacity_block_stands_at_zero_until_it_starts() -> None:
    compute_stack = templates("eks-capacity-block")["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["CapacityType"] == "CAPACITY_BLOCK"
    assert group["ScalingConfig"] == {"DesiredSize": 0, "MaxSize": 16, "MinSize": 0}
    (command,) = compute_stack.find_outputs("ScaleUpCommands").values()
    assert "minSize=0,maxSize=16,desiredSize=16" in command["Value"]


def test_repair_is_on_one_node_at_a_time_and_spares_nodes_a_programs_fault() -> None:
    group = only(templates("eks-minimal")["Compute"], "AWS::EKS::Nodegroup", NodegroupName="train")
    repair = group["NodeRepairConfig"]
    assert repair["Enabled"] is True
    assert repair["MaxParallelNodesRepairedCount"] == 1
    reasons = {one["NodeUnhealthyReason"]: one["RepairAction"] for one in repair["NodeRepairConfigOverrides"]}
    assert reasons["NvidiaXID31Error"] == "NoAction"


def test_taints_of_the_file_stand_beside_that_of_gpus_and_everything_of_ours_tolerates_them() -> None:
    change = ("count: 2}", "count: 2, taints: {team.example.com/dedicated: NoExecute}}")
    group = only(templates("eks-minimal", change)["Compute"], "AWS::EKS::Nodegroup", NodegroupName="train")
    assert [(one["Key"], one["Effect"]) for one in group["Taints"]] == [
        ("nvidia.com/gpu", "NO_SCHEDULE"),
        ("team.example.com/dedicated", "NO_EXECUTE"),
        ("fsx.csi.aws.com/agent-not-ready", "NO_EXECUTE"),
    ]
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace(*change)
    (nodes,) = kubernetes.platform_of(clusterfile.loads(text, "c.yaml")).nodes
    assert {one["key"] for one in nodes.tolerations} == {"nvidia.com/gpu", "team.example.com/dedicated"}


def test_what_managed_groups_cannot_buy_is_an_auto_scaling_group_that_may_join() -> None:
    found = templates("eks-mixed")
    group = only(found["Compute"], "AWS::AutoScaling::AutoScalingGroup")
    assert {"Key": "kubernetes.io/cluster/studio", "Value": "owned", "PropagateAtLaunch": True} in group["Tags"]
    entries = found["Cluster"].find_resources("AWS::EKS::AccessEntry").values()
    assert sorted(one["Properties"]["Type"] for one in entries) == ["EC2_LINUX", "STANDARD"]


def test_a_node_with_an_image_of_yours_is_told_everything_because_eks_tells_it_nothing() -> None:
    pinned = ("count: 2}", "count: 2, image: ami-0123456789abcdef0, pods: 60}")
    compute_stack = templates("eks-minimal", pinned)["Compute"]
    assert "AmiType" not in only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    found = compute_stack.find_resources("AWS::EC2::LaunchTemplate").values()
    (data,) = [
        one["Properties"]["LaunchTemplateData"] for one in found if "ImageId" in one["Properties"]["LaunchTemplateData"]
    ]
    text = json.dumps(data["UserData"])
    for said in ("apiServerEndpoint", "certificateAuthority", "172.20.0.0/16", "maxPods", "nvidia.com/gpu:NoSchedule"):
        assert said in text


def test_bottlerocket_keeps_images_on_its_second_volume_and_is_of_the_kind_with_a_driver() -> None:
    compute_stack = templates("eks-mixed")["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="serve")
    assert group["AmiType"] == "BOTTLEROCKET_x86_64_NVIDIA"
    assert only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="gateway")["AmiType"] == "AL2023_ARM_64_STANDARD"
    devices = json.dumps(compute_stack.find_resources("AWS::EC2::LaunchTemplate"))
    assert '"/dev/xvdb"' in devices


def test_karpenter_launches_and_ends_only_what_carries_the_clusters_tags() -> None:
    compute_stack = templates("eks-mixed")["Compute"]
    groups = compute_stack.find_resources("AWS::EKS::Nodegroup").values()
    assert "burst" not in {one["Properties"]["NodegroupName"] for one in groups}
    association = only(compute_stack, "AWS::EKS::PodIdentityAssociation")
    assert (association["Namespace"], association["ServiceAccount"]) == ("karpenter-system", "karpenter")
    policies = [one["Properties"] for one in compute_stack.find_resources("AWS::IAM::Policy").values()]
    (policy,) = [one["PolicyDocument"]["Statement"] for one in policies if "Karpenter" in one["PolicyName"]]
    for statement in policy:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        if {"ec2:TerminateInstances", "ec2:CreateTags", "iam:DeleteInstanceProfile"} & set(actions):
            assert "kubernetes.io/cluster/studio" in json.dumps(statement["Condition"])
    assert "KarpenterQueue" in compute_stack.find_outputs("*")


def test_a_node_class_names_what_the_stacks_say_that_they_made() -> None:
    found = templates("eks-mixed")
    outputs = {name: name.lower() for template in found.values() for name in template.find_outputs("*")}
    platform = kubernetes.platform_of(clusterfile.load(ROOT / "examples" / "eks-mixed.yaml"), deployed=outputs)
    assert platform.karpenter is not None
    assert kubernetes.from_cluster_file.NOT_DEPLOYED not in str(platform.karpenter)
    text = str(kubernetes.platform(platform).objects)
    assert "'role': 'ownnodesrolename'" in text
    assert "ami-0123456789abcdef0" in text


def test_a_self_managed_group_is_scaled_in_before_its_block_ends() -> None:
    stack, subnet, groups = place()
    block = compute.CapacityBlock(reservation_id=RESERVATION, ends=clusterfile_end())
    template = compute.NodeGroupTemplate(
        stack,
        "T",
        instance_type="p5.48xlarge",
        security_groups=groups,
        capacity=block,
        subnet=subnet,
        image="ami-01234567",
    )
    orchestration.EksSelfManagedNodeGroup(
        stack, "G", cluster_name="llama", name="train", template=template, subnet=subnet, count=8
    )
    made = assertions.Template.from_stack(stack)
    made.has_resource_properties(
        "AWS::AutoScaling::AutoScalingGroup", {"MinSize": "0", "DesiredCapacity": "0", "MaxSize": "8"}
    )
    made.resource_count_is("AWS::AutoScaling::ScheduledAction", 1)


def test_nodes_wait_at_zero_until_their_block_is_active_and_stay_through_later_updates() -> None:
    def scaling(*edit: tuple[str, str]) -> Any:
        made = templates("eks-capacity-block", *edit)["Compute"]
        outputs = made.find_outputs("ScaleUpCommands")
        return only(made, "AWS::EKS::Nodegroup", NodegroupName="train")["ScalingConfig"], bool(outputs)

    assert scaling() == ({"MinSize": 0, "DesiredSize": 0, "MaxSize": 16}, True)
    active = ("ends: 2026-12-18", "ends: 2026-12-18, active: true")
    assert scaling(active) == ({"MinSize": 0, "DesiredSize": 16, "MaxSize": 16}, False)
    labelled = ("    count: 16", "    labels: {team: a}\n    count: 16")
    assert scaling(active, labelled) == scaling(active)


def clusterfile_end() -> Any:
    cluster = clusterfile.load(ROOT / "examples" / "eks-capacity-block.yaml")
    return getattr(cluster.node_groups[0].capacity, "ends", None)


def test_pod_addresses_come_in_prefixes_and_network_policies_are_on(minimal: Any) -> None:
    add_on = only(minimal["Cluster"], "AWS::EKS::Addon", AddonName="vpc-cni")
    settings = json.loads(add_on["ConfigurationValues"])
    assert settings["enableNetworkPolicy"] == "true"
    assert settings["env"]["ENABLE_PREFIX_DELEGATION"] == "true"
    assert add_on["PodIdentityAssociations"][0]["ServiceAccount"] == "aws-node"


def test_drivers_come_with_the_storage_that_they_are_for() -> None:
    names = {
        one["Properties"]["AddonName"]
        for one in templates("eks-minimal")["Compute"].find_resources("AWS::EKS::Addon").values()
    }
    assert names == {"coredns", "metrics-server", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver"}


def test_a_version_that_the_file_names_is_the_add_ons() -> None:
    pinned = ("{admins:", "{add-ons: {coredns: v1.12.4-eksbuild.1, aws-ebs-csi-driver: default}, admins:")
    made = templates("eks-minimal", pinned)["Compute"]
    assert only(made, "AWS::EKS::Addon", AddonName="coredns")["AddonVersion"] == "v1.12.4-eksbuild.1"
    assert "AddonVersion" not in only(made, "AWS::EKS::Addon", AddonName="aws-ebs-csi-driver")


def test_a_private_cluster_has_endpoints_and_no_way_out() -> None:
    network = templates("eks-private")["Network"]
    for kind in ("AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "AWS::EC2::EIP"):
        network.resource_count_is(kind, 0)
    endpoints = network.find_resources("AWS::EC2::VPCEndpoint").values()
    names = json.dumps([one["Properties"]["ServiceName"] for one in endpoints])
    for service in ("eks", "eks-auth", "ecr.api", "ecr.dkr", "sts", "ec2", "s3", "logs", "ssm", "aps-workspaces"):
        assert f"com.amazonaws.us-east-2.{service}" in names or f".{service}" in names
    routes = network.find_resources("AWS::EC2::Route")
    assert routes == {}


def test_a_cluster_of_yours_gets_node_groups_and_nothing_else() -> None:
    found = templates("eks-own-cluster")
    found["Cluster"].resource_count_is("AWS::EKS::Cluster", 0)
    for template in found.values():
        template.resource_count_is("AWS::EKS::Addon", 0)
    group = only(found["Compute"], "AWS::EKS::Nodegroup")
    assert group["ClusterName"] == "platform"


def place() -> tuple[cdk.Stack, ec2.ISubnet, list[ec2.ISecurityGroup]]:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S", env=cdk.Environment(region="us-east-2"))
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Sg", "sg-0123456789abcdef0")
    return stack, subnet, [group]


def node_group(kind: str, way: str, os: eks.NodeOs) -> str:
    """Whether a combination synthesises to a template that cfn-lint takes; the reason otherwise."""
    stack, subnet, groups = place()
    arm = way == "UltraServer"
    architecture: Architecture = "arm64" if arm else "x86_64"
    try:
        template = compute.NodeGroupTemplate(
            stack,
            "Template",
            instance_type="p6e-gb200.36xlarge" if arm else "p5.48xlarge",
            security_groups=groups,
            service="eks-managed" if kind == "managed" else "self-managed",
            capacity=WAYS[way],
            subnet=None if kind == "managed" else subnet,
            image=None
            if kind == "managed"
            else compute.newest_image("eks" if os == "al2023" else "bottlerocket", architecture, kubernetes="1.35"),
        )
        if kind == "managed":
            cluster = l2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="llama")
            role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/nodes")
            orchestration.EksNodeGroup(
                stack, "Group", cluster=cluster, name="train", template=template, subnet=subnet, node_role=role,
                count=18 if arm else 4, os=os,
            )  # fmt: skip
        else:
            orchestration.EksSelfManagedNodeGroup(
                stack,
                "Group",
                cluster_name="llama",
                name="train",
                template=template,
                subnet=subnet,
                count=18 if arm else 4,
            )
    except ValueError:
        return "no"
    made = json.dumps(assertions.Template.from_stack(stack).to_json())
    assert problems(made) == []
    return "yes"


TABLE = (ROOT / "docs" / "kubernetes.md").read_text()


@pytest.mark.parametrize("way", WAYS)
def test_the_table_of_node_groups_is_what_synthesises(way: str) -> None:
    row = next(line for line in TABLE.splitlines() if line.startswith(f"| {way} |"))
    shown = [cell.strip() for cell in row.strip("|").split("|")][1:]
    made = [node_group(kind, way, os) for kind in ("managed", "self-managed") for os in eks.NODE_OSES]
    assert made == shown


def test_rejects_a_platform_that_does_not_fit_together_in_an_app_that_asked_nobody() -> None:
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text()
    text = text.replace("{admins:", "{gpu: gpu-operator, charts: {kueue: 0.19.2, nope: 1.0.0}, admins:")
    cluster = clusterfile.loads(text.replace("count: 2}", "count: 2, os: bottlerocket}"), "c.yaml")
    with pytest.raises(ValueError, match=r"kubernetes.charts.nope: .*no release") as refusal:
        patterns.UltraCluster(cdk.Stack(cdk.App(), "Own"), "Cluster", cluster=cluster)
    assert "Own/Cluster: kubernetes.gpu: train: Bottlerocket brings a device plugin along" in str(refusal.value)


def test_rejects_a_template_of_another_service_and_a_cluster_with_one_subnet() -> None:
    stack, subnet, groups = place()
    template = compute.NodeGroupTemplate(stack, "T", instance_type="p5.48xlarge", security_groups=groups, subnet=subnet)
    cluster = l2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="llama")
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/nodes")
    with pytest.raises(ValueError, match="the template must be for eks-managed, got self-managed"):
        orchestration.EksNodeGroup(
            stack, "G", cluster=cluster, name="train", template=template, subnet=subnet, node_role=role, count=1
        )
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"])
    with pytest.raises(ValueError, match="subnets must hold two at least") as caught:
        orchestration.EksCluster(
            stack, "C", name="llama", version="1.30", vpc=vpc, subnets=[subnet], reached_from=["0.0.0.0/0"]
        )
    assert "1.30 is at its end" in str(caught.value)
    assert "open_to_the_world=True" in str(caught.value)
