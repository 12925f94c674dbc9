"""The EKS constructs."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as l2
from aws_cdk import aws_iam as iam
from moto.iam.aws_managed_policies import aws_managed_policies_data

from support import ROOT
from support.clusterfile_data import NO_METRICS, RESERVATION
from support.iam import allowed
from support.template_lint import problems
from support.templates import synth
from ultracluster import clusterfile, compute, kubernetes
from ultracluster.catalogue.ec2 import Architecture
from ultracluster.catalogue.schedulers import eks
from ultracluster.catalogue.schedulers import eks_add_ons as add_on_facts
from ultracluster.eks import EksCluster, EksNodeGroup, EksSelfManagedNodeGroup
from ultracluster.eks._admin_access import member_entry
from ultracluster.eks._pod_logs import pod_log_values
from ultracluster.kubernetes import parameter_values
from ultracluster.planning.capacity import Capacity

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


_PARTS = ("Network", "Storage", "Cluster", "Compute")


def templates(name: str, *changes: tuple[str, str]) -> dict[str, assertions.Template]:
    """The templates of an example, by the last part of their names."""
    text = (ROOT / "examples" / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    if changes and "\nobservability:" not in text:
        text += NO_METRICS
    synthesised = synth(clusterfile.loads(text, "c.yaml")).stacks
    parts = {stack.stack_name.rpartition("-")[2]: stack.text for stack in synthesised}
    return {name: assertions.Template.from_string(parts[name]) for name in _PARTS if name in parts}


def only(template: assertions.Template, kind: str, **wanted: Any) -> dict[str, Any]:
    (result,) = template.find_resources(kind, {"Properties": wanted} if wanted else {}).values()
    properties: dict[str, Any] = result["Properties"]
    return properties


@pytest.fixture(scope="module")
def minimal() -> dict[str, assertions.Template]:
    return templates("eks-minimal")


def test_a_cluster_is_private_encrypted_logged_and_has_no_access_except_for_admins(minimal: Any) -> None:
    result = only(minimal["Cluster"], "AWS::EKS::Cluster")
    vpc = result["ResourcesVpcConfig"]
    assert (vpc["EndpointPrivateAccess"], vpc["EndpointPublicAccess"]) == (True, False)
    assert len(vpc["SubnetIds"]) == 2
    assert result["AccessConfig"] == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    assert result["EncryptionConfig"][0]["Resources"] == ["secrets"]
    assert len(result["Logging"]["ClusterLogging"]["EnabledTypes"]) == 5
    (entry,) = minimal["Cluster"].find_resources("AWS::EKS::AccessEntry").values()
    assert entry["Properties"]["PrincipalArn"] == "arn:aws:iam::123456789012:role/platform"


def test_a_member_of_teams_has_one_entry_with_their_groups_which_it_keeps_as_an_administrator() -> None:
    entries = templates("eks-512-gpus")["Cluster"].find_resources("AWS::EKS::AccessEntry")
    (member,) = (each["Properties"] for each in entries.values() if "AccessPolicies" not in each["Properties"])
    assert member["PrincipalArn"] == "arn:aws:iam::123456789012:role/pretrain"
    assert (member["Type"], member["KubernetesGroups"]) == ("STANDARD", ["ultracluster-pretrain"])
    text = (ROOT / "examples" / "eks-512-gpus.yaml").read_text()
    both = text.replace("{nodes: {train: 16}}", f"{{nodes: {{train: 16}}, members: [{member['PrincipalArn']!r}]}}")
    groups = kubernetes.team_members(clusterfile.loads(both, "c.yaml"))
    assert groups == {member["PrincipalArn"]: ["ultracluster-pretrain", "ultracluster-research"]}
    # Another id would be created before this one is deleted, and EKS refuses a second entry.
    stack, cluster = created(admins=lambda stack: [])
    member_entry(cluster, cluster=cluster.cluster, principal=member["PrincipalArn"], groups=["ultracluster-pretrain"])
    promoted, _ = created(admins=lambda stack: [member["PrincipalArn"]])
    ids = [
        {*assertions.Template.from_stack(each).find_resources("AWS::EKS::AccessEntry")} for each in (stack, promoted)
    ]
    assert ids[0] == ids[1]


def test_the_two_subnets_of_the_control_plane_are_in_two_zones(minimal: Any) -> None:
    subnets = minimal["Network"].find_resources("AWS::EC2::Subnet").values()
    private = [entry for entry in subnets if "PublicSubnet" not in json.dumps(entry["Properties"]["Tags"])]
    assert {entry["Properties"]["AvailabilityZoneId"] for entry in private} == {"use2-az1", "use2-az2"}


def test_no_lambda_function_is_created(minimal: Any) -> None:
    for template in minimal.values():
        template.resource_count_is("AWS::Lambda::Function", 0)
        assert not [entry for entry in template.to_json()["Resources"].values() if entry["Type"].startswith("Custom::")]


def test_tier_and_bin_packing_follow_the_file() -> None:
    result = only(templates("eks-512-gpus")["Cluster"], "AWS::EKS::Cluster")
    assert result["ControlPlaneScalingConfig"] == {"Tier": "tier-xl"}
    scoring = result["KubeSchedulerConfig"]["NodeResourcesFit"]["ScoringStrategy"]
    assert scoring["Type"] == "MostAllocated"
    assert result["ResourcesVpcConfig"]["PublicAccessCidrs"] == ["203.0.113.0/24"]


@pytest.mark.parametrize("support", [None, "standard", "extended"])
def test_the_support_type_is_the_upgrade_policy(support: str | None) -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    cluster = EksCluster(
        stack, "Cluster", name="llama", version="1.35", vpc=vpc, subnets=vpc.private_subnets, support=support
    )
    policy = stack.resolve(cluster.resource.upgrade_policy)
    assert policy == (support and {"supportType": support.upper()})


def test_512_gpus_are_64_nodes_with_16_efa_devices_and_one_address_each() -> None:
    compute_stack = templates("eks-512-gpus")["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["ScalingConfig"] == {"DesiredSize": 64, "MaxSize": 64, "MinSize": 64}
    assert group["AmiType"] == "AL2023_x86_64_NVIDIA"
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"}
    assert "InstanceTypes" not in group
    data = [
        entry["Properties"]["LaunchTemplateData"]
        for entry in compute_stack.find_resources("AWS::EC2::LaunchTemplate").values()
        if entry["Properties"]["LaunchTemplateData"]["InstanceType"] == "p5en.48xlarge"
    ]
    (rows,) = [entry["NetworkInterfaces"] for entry in data]
    assert [row["InterfaceType"] for row in rows].count("efa-only") == 16
    assert [row["InterfaceType"] for row in rows].count("interface") == 1
    for row in rows:
        assert "SubnetId" not in row
        # The cluster's own group too, or the nodes never join.
        assert len(row["Groups"]) == 2
    assert {"Key": "nvidia.com/gpu", "Effect": "NO_SCHEDULE"} in group["Taints"]


def test_a_group_of_a_capacity_block_has_no_nodes_until_it_starts() -> None:
    compute_stack = templates("eks-capacity-block", (" starts: 2026-12-04,", ""))["Compute"]
    compute_stack.resource_count_is("AWS::Scheduler::Schedule", 0)
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["CapacityType"] == "CAPACITY_BLOCK"
    assert group["ScalingConfig"] == {"DesiredSize": 0, "MaxSize": 16, "MinSize": 0}
    (command,) = compute_stack.find_outputs("ScaleUpCommands").values()
    assert "minSize=0,maxSize=16,desiredSize=16" in command["Value"]


def test_a_group_of_a_capacity_block_starts_with_it() -> None:
    compute_stack = templates("eks-capacity-block")["Compute"]
    assert only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")["ScalingConfig"]["DesiredSize"] == 0
    schedule = only(compute_stack, "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "at(2026-12-04T11:30:00)"
    target = schedule["Target"]
    assert target["Arn"] == "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig"
    text = "".join(part if isinstance(part, str) else "sprint" for part in target["Input"]["Fn::Join"][1])
    assert json.loads(text) == {
        "ClusterName": "sprint",
        "NodegroupName": "train",
        "ScalingConfig": {"MinSize": 0, "MaxSize": 16, "DesiredSize": 16},
    }
    (statement,) = (
        statement
        for policy in compute_stack.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "eks:UpdateNodegroupConfig"
    )
    assert statement["Resource"]["Fn::GetAtt"][1] == "Arn"
    assert compute_stack.find_outputs("ScaleUpCommands") == {}
    active = templates("eks-capacity-block", ("ends:", "active: true, ends:"))["Compute"]
    active.resource_count_is("AWS::Scheduler::Schedule", 0)


def test_a_group_of_a_reservation_starts_with_it() -> None:
    times = "kind: capacity-block, instances: 16, starts: 2026-12-04, ends: 2026-12-18"
    compute_stack = templates("eks-capacity-block", (times, "kind: odcr, starts: 2026-12-04"))["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["CapacityType"] == "ON_DEMAND"
    # EKS fails a group whose nodes do not launch, and none launches before the reservation is active.
    assert group["ScalingConfig"] == {"DesiredSize": 0, "MaxSize": 16, "MinSize": 0}
    schedule = only(compute_stack, "AWS::Scheduler::Schedule")
    assert schedule["ScheduleExpression"] == "at(2026-12-04T11:30:00)"
    assert schedule["Description"] == "Starts the nodes of train with their reservation"
    active = templates("eks-capacity-block", (times, "kind: odcr, starts: 2026-12-04, active: true"))["Compute"]
    active.resource_count_is("AWS::Scheduler::Schedule", 0)
    group = only(active, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert group["ScalingConfig"] == {"DesiredSize": 16, "MaxSize": 16, "MinSize": 0}


def test_a_group_of_an_ultraserver_has_no_nodes_an_hour_and_a_half_before_its_end() -> None:
    def stops(*changes: tuple[str, str]) -> list[dict[str, Any]]:
        rows = templates("eks-gb200", *changes)["Compute"].find_resources("AWS::Scheduler::Schedule").values()
        return [row["Properties"] for row in rows if "to zero" in row["Properties"]["Description"]]

    (schedule,) = stops()
    # The block ends at 11:30, and its instances must be terminated by 10:30.
    assert schedule["ScheduleExpression"] == "at(2026-12-18T10:00:00)"
    assert schedule["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == 3600
    text = "".join(part if isinstance(part, str) else "domain" for part in schedule["Target"]["Input"]["Fn::Join"][1])
    assert json.loads(text)["ScalingConfig"] == {"MinSize": 0, "MaxSize": 18, "DesiredSize": 0}
    (later,) = stops(("ends: 2026-12-18", "ends: 2026-12-20"))
    assert later["ScheduleExpression"] == "at(2026-12-20T10:00:00)"
    assert stops((", ends: 2026-12-18", "")) == []


def test_nodes_have_the_labels_that_charts_and_pods_select_by() -> None:
    created = templates("eks-mixed")["Compute"]
    present = {"nvidia.com/gpu.present": "true", "vpc.amazonaws.com/efa.present": "true"}
    expected = {"train": present, "serve": {**present, "purpose": "serving"}, "gateway": {}}
    for name, labels in expected.items():
        group = only(created, "AWS::EKS::Nodegroup", NodegroupName=name)
        assert group["Labels"] == {**labels, "ultracluster.dev/group": name}


def test_versions_and_releases_of_nodes_follow_the_file() -> None:
    def node_groups(*changes: tuple[str, str]) -> list[Any]:
        groups = templates("eks-mixed", *changes)["Compute"].find_resources("AWS::EKS::Nodegroup").values()
        return [group["Properties"] for group in groups]

    def versions(groups: list[Any]) -> dict[str, tuple[str | None, str | None]]:
        return {group["NodegroupName"]: (group.get("Version"), group.get("ReleaseVersion")) for group in groups}

    assert versions(node_groups()) == {
        "system": ("1.35", None),
        "train": ("1.35", None),
        "serve": ("1.35", None),
        "gateway": ("1.35", None),
    }
    edited = node_groups(
        ("  admins:", "  release: 1.35.2-20261105\n  admins:"),
        ("count: 8, spare: 1,", "count: 8, spare: 1, release: 1.34.4-20260805, update: all,"),
        ("os: bottlerocket,", "os: bottlerocket, release: 1.47.0-6154605b, update: 10%,"),
    )
    pinned = versions(edited)
    assert pinned["system"] == pinned["gateway"] == ("1.35", "1.35.2-20261105")
    assert pinned["train"] == ("1.34", "1.34.4-20260805")
    # A release of Bottlerocket does not name the version of Kubernetes.
    assert pinned["serve"] == ("1.35", "1.47.0-6154605b")
    updates = {group["NodegroupName"]: group["UpdateConfig"] for group in edited}
    assert updates["train"]["MaxUnavailablePercentage"] == 100
    assert "MaxUnavailable" not in updates["train"]
    assert updates["system"]["MaxUnavailable"] == 1
    assert updates["serve"]["MaxUnavailablePercentage"] == 10
    (serve,) = (
        it
        for it in node_groups(("os: bottlerocket,", "os: bottlerocket, update: 20,"))
        if it["NodegroupName"] == "serve"
    )
    assert serve["UpdateConfig"]["MaxUnavailable"] == 20


def test_nodes_of_an_existing_cluster_have_its_version() -> None:
    group = only(templates("eks-own-cluster")["Compute"], "AWS::EKS::Nodegroup")
    assert "Version" not in group


def test_rejects_a_release_beside_an_image_and_a_name_in_use() -> None:
    stack, subnet, groups = place()
    template = compute.NodeGroupTemplate(
        stack,
        "Template",
        instance_type="p5en.48xlarge",
        service="eks-managed",
        security_groups=groups,
        image="ami-0123456789abcdef0",
    )
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    control_plane = l2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="llama")
    given: Any = {"name": "train", "template": template, "subnet": subnet, "node_role": role, "count": 2}
    with pytest.raises(ValueError, match="version and release must be left out: the template has an image"):
        EksNodeGroup(stack, "Group", cluster=control_plane, release="1.35.2-20261105", **given)
    EksNodeGroup(stack, "Train", cluster=control_plane, **given)
    with pytest.raises(ValueError, match=r"S/More: .* the name of the node group 'Train' \[name-in-cluster\]"):
        EksNodeGroup(stack, "More", cluster=control_plane, **given)
    other = l2.Cluster.from_cluster_attributes(stack, "Other", cluster_name="other")
    EksNodeGroup(stack, "OfOther", cluster=other, **given)


def test_repair_takes_one_node_at_a_time_and_ignores_faults_of_programs() -> None:
    group = only(templates("eks-minimal")["Compute"], "AWS::EKS::Nodegroup", NodegroupName="train")
    repair = group["NodeRepairConfig"]
    assert repair["Enabled"] is True
    assert repair["MaxParallelNodesRepairedCount"] == 1
    reasons = {entry["NodeUnhealthyReason"]: entry["RepairAction"] for entry in repair["NodeRepairConfigOverrides"]}
    assert reasons["NvidiaXID31Error"] == "NoAction"


def test_taints_of_the_file_are_added_to_that_of_gpus_and_tolerated_by_the_platform() -> None:
    change = ("count: 2}", "count: 2, taints: {team.example.com/dedicated: NoExecute}}")
    compute_stack = templates("eks-minimal", change)["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    assert [(entry["Key"], entry["Effect"]) for entry in group["Taints"]] == [
        ("nvidia.com/gpu", "NO_SCHEDULE"),
        ("team.example.com/dedicated", "NO_EXECUTE"),
    ]
    # EKS adds those half a minute after the node joins, and the driver of FSx looks for its taint once. So the kubelet
    # registers it. Those of the file are not in the launch template: an edit of them would replace the nodes.
    (boot,) = [
        text
        for entry in compute_stack.find_resources("AWS::EC2::LaunchTemplate").values()
        if "registerWithTaints" in (text := json.dumps(entry["Properties"]["LaunchTemplateData"]))
    ]
    assert "fsx.csi.aws.com/agent-not-ready" in boot
    assert "nvidia.com/gpu" in boot
    assert "team.example.com/dedicated" not in boot
    text = (ROOT / "examples" / "eks-minimal.yaml").read_text().replace(*change)
    (nodes,) = kubernetes.platform_of(clusterfile.loads(text, "c.yaml")).nodes
    assert {entry["key"] for entry in nodes.tolerations} == {"nvidia.com/gpu", "team.example.com/dedicated"}


def test_capacity_that_managed_groups_do_not_support_is_an_auto_scaling_group_with_access() -> None:
    result = templates("eks-mixed")
    group = only(result["Compute"], "AWS::AutoScaling::AutoScalingGroup")
    assert {"Key": "kubernetes.io/cluster/studio", "Value": "owned", "PropagateAtLaunch": True} in group["Tags"]
    entries = result["Cluster"].find_resources("AWS::EKS::AccessEntry").values()
    assert sorted(entry["Properties"]["Type"] for entry in entries) == ["EC2_LINUX", "STANDARD"]


def test_a_node_with_a_pinned_image_has_its_whole_configuration_in_its_user_data() -> None:
    pinned = ("count: 2}", "count: 2, image: ami-0123456789abcdef0, pods: 60}")
    compute_stack = templates("eks-minimal", pinned)["Compute"]
    assert "AmiType" not in only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="train")
    result = compute_stack.find_resources("AWS::EC2::LaunchTemplate").values()
    (data,) = [
        entry["Properties"]["LaunchTemplateData"]
        for entry in result
        if "ImageId" in entry["Properties"]["LaunchTemplateData"]
    ]
    text = json.dumps(data["UserData"])
    for expected in (
        "apiServerEndpoint",
        "certificateAuthority",
        "172.20.0.0/16",
        "maxPods",
        "registerWithTaints",
    ):
        assert expected in text


def test_bottlerocket_uses_its_second_volume_and_the_variant_with_a_driver() -> None:
    compute_stack = templates("eks-mixed")["Compute"]
    group = only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="serve")
    assert group["AmiType"] == "BOTTLEROCKET_x86_64_NVIDIA"
    assert only(compute_stack, "AWS::EKS::Nodegroup", NodegroupName="gateway")["AmiType"] == "AL2023_ARM_64_STANDARD"
    devices = json.dumps(compute_stack.find_resources("AWS::EC2::LaunchTemplate"))
    assert '"/dev/xvdb"' in devices
    assert "settings.kubernetes.node-taints" in devices


def test_karpenter_launches_and_terminates_only_resources_with_the_tags_of_the_cluster() -> None:
    compute_stack = templates("eks-mixed")["Compute"]
    groups = compute_stack.find_resources("AWS::EKS::Nodegroup").values()
    assert "burst" not in {entry["Properties"]["NodegroupName"] for entry in groups}
    association = only(compute_stack, "AWS::EKS::PodIdentityAssociation")
    assert (association["Namespace"], association["ServiceAccount"]) == ("karpenter-system", "karpenter")
    policies = [entry["Properties"] for entry in compute_stack.find_resources("AWS::IAM::Policy").values()]
    (policy,) = [entry["PolicyDocument"]["Statement"] for entry in policies if "Karpenter" in entry["PolicyName"]]
    for statement in policy:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        if {"ec2:TerminateInstances", "ec2:CreateTags", "iam:DeleteInstanceProfile"} & set(actions):
            assert "kubernetes.io/cluster/studio" in json.dumps(statement["Condition"])
    used = str(next(statement["Resource"] for statement in policy if "ec2:RunInstances" in statement["Action"]))
    for kind in ("subnet", "security-group", "capacity-reservation", "placement-group"):
        assert f":*:{kind}/*" in used  # of the account that shares it
    (passed,) = (statement["Condition"] for statement in policy if statement["Action"] == "iam:PassRole")
    # The second in China.
    services = ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]
    assert passed == {"StringEquals": {"iam:PassedToService": services}}
    assert "KarpenterQueue" in compute_stack.find_outputs("*")


def test_a_node_class_uses_the_outputs_of_the_stacks() -> None:
    result = templates("eks-mixed")
    outputs = {name: name.lower() for template in result.values() for name in template.find_outputs("*")}
    settings = "elastic: true, labels: {purpose: batch}, tags: {team: a}, root-volume: 1 TiB, pods: 40"
    text = (ROOT / "examples" / "eks-mixed.yaml").read_text().replace("elastic: true", settings)
    platform = kubernetes.platform_of(clusterfile.loads(text, "c.yaml"), deployed=parameter_values(outputs))
    (burst,) = [group for group in platform.nodes if group.elastic]
    assert (burst.further_labels, burst.tags) == ({"purpose": "batch"}, {"team": "a"})
    assert (burst.root_volume_gib, burst.pods, burst.placement_group) == (1024, 40, None)
    assert platform.karpenter is not None
    assert "${" not in str(platform.karpenter)
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
    EksSelfManagedNodeGroup(stack, "G", cluster_name="llama", name="train", template=template, subnet=subnet, count=8)
    created = assertions.Template.from_stack(stack)
    created.has_resource_properties(
        "AWS::AutoScaling::AutoScalingGroup", {"MinSize": "0", "DesiredCapacity": "0", "MaxSize": "8"}
    )
    created.resource_count_is("AWS::AutoScaling::ScheduledAction", 1)


def test_nodes_start_when_their_block_is_active_and_stay_through_later_updates() -> None:
    def scaling(*edit: tuple[str, str]) -> Any:
        created = templates("eks-capacity-block", *edit)["Compute"]
        outputs = created.find_outputs("ScaleUpCommands")
        return only(created, "AWS::EKS::Nodegroup", NodegroupName="train")["ScalingConfig"], bool(outputs)

    assert scaling() == ({"MinSize": 0, "DesiredSize": 0, "MaxSize": 16}, False)
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


def test_storage_adds_its_drivers() -> None:
    names = {
        entry["Properties"]["AddonName"]
        for entry in templates("eks-minimal")["Compute"].find_resources("AWS::EKS::Addon").values()
    }
    drivers = {"aws-ebs-csi-driver", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver"}
    assert names == {"coredns", "metrics-server", *drivers}


def statements(created: assertions.Template, role: str) -> dict[str, Any]:
    """Statements by action of the role whose logical id begins so."""
    return {
        str(action): statement
        for policy in created.find_resources("AWS::IAM::Policy").values()
        if any(str(reference.get("Ref")).startswith(role) for reference in policy["Properties"]["Roles"])
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }


def test_the_fsx_driver_deletes_only_file_systems_that_it_created(minimal: Any) -> None:
    rows = {id(row): row for row in statements(minimal["Compute"], "AddOnsawsfsxcsidriverRole").values()}
    document = {"Version": "2012-10-17", "Statement": [{**row, "Resource": "*"} for row in rows.values()]}

    def may(action: str, **tags: str) -> bool:
        return allowed([document], f"fsx:{action}", keys=tags)

    new, its = {"aws:RequestTag/CSIVolumeName": "pvc-1"}, {"aws:ResourceTag/CSIVolumeName": "pvc-1"}
    of_stack = {"aws:ResourceTag/aws:cloudformation:stack-name": "llama-Storage"}
    assert may("CreateFileSystem", **new)
    assert may("TagResource", **new)
    assert may("UpdateFileSystem", **its)
    assert may("DeleteFileSystem", **its)
    assert not may("DeleteFileSystem")
    # It cannot set its tag on the file system of a cluster, nor delete one that has it.
    assert not may("TagResource", **new, **of_stack)
    assert not may("UpdateFileSystem", **its, **of_stack)
    assert not may("DeleteFileSystem", **its, **of_stack)
    assert may("DescribeFileSystems"), "it polls them until they are available"


def test_an_add_on_has_the_permissions_that_aws_documents() -> None:
    more = ("{admins:", "{add-ons: {amazon-cloudwatch-observability: default, snapshot-controller: default}, admins:")
    created = templates("eks-minimal", more)["Compute"]
    roles = created.find_resources("AWS::IAM::Role")
    for name, policies in (
        ("amazon-cloudwatch-observability", ["/AWSXrayWriteOnlyAccess", "/CloudWatchAgentServerPolicy"]),
        ("aws-ebs-csi-driver", ["/AmazonEBSCSIDriverPolicyV2"]),
    ):
        (association,) = only(created, "AWS::EKS::Addon", AddonName=name)["PodIdentityAssociations"]
        assert association["ServiceAccount"] == add_on_facts.ACCESS[name].service_account
        attached = json.dumps(roles[association["RoleArn"]["Fn::GetAtt"][0]]["Properties"]["ManagedPolicyArns"])
        assert all(policy in attached for policy in policies)
    assert "PodIdentityAssociations" not in only(created, "AWS::EKS::Addon", AddonName="snapshot-controller")


def test_the_add_on_of_logs_has_its_settings() -> None:
    created = templates("eks-minimal", ("{admins:", "{logs: true, admins:"))["Compute"]
    add_on = only(created, "AWS::EKS::Addon", AddonName=add_on_facts.LOGS)
    assert json.loads(add_on["ConfigurationValues"]) == {**add_on_facts.LOGS_ONLY, **pod_log_values()}


def test_every_policy_of_an_add_on_exists() -> None:
    known = {
        f"{policy.get('Path', '/')}{name}".removeprefix("/")
        for name, policy in json.loads(aws_managed_policies_data).items()
    }
    assert {policy for access in add_on_facts.ACCESS.values() for policy in access.policies} - known == set()


def test_an_add_on_has_the_role_of_the_file() -> None:
    settings = (
        "{version: v0.19.0-eksbuild.1, role: 'arn:aws:iam::123456789012:role/dns', service-account: external-dns}"
    )
    created = templates("eks-minimal", ("{admins:", f"{{add-ons: {{external-dns: {settings}}}, admins:"))["Compute"]
    add_on = only(created, "AWS::EKS::Addon", AddonName="external-dns")
    assert add_on["AddonVersion"] == "v0.19.0-eksbuild.1"
    assert add_on["PodIdentityAssociations"] == [
        {"RoleArn": "arn:aws:iam::123456789012:role/dns", "ServiceAccount": "external-dns"}
    ]


def test_an_add_on_has_the_version_of_the_file() -> None:
    pinned = ("{admins:", "{add-ons: {coredns: v1.12.4-eksbuild.1, aws-ebs-csi-driver: default}, admins:")
    created = templates("eks-minimal", pinned)["Compute"]
    assert only(created, "AWS::EKS::Addon", AddonName="coredns")["AddonVersion"] == "v1.12.4-eksbuild.1"
    assert "AddonVersion" not in only(created, "AWS::EKS::Addon", AddonName="aws-ebs-csi-driver")


def test_a_private_cluster_has_endpoints_and_no_internet_access() -> None:
    network = templates("eks-private")["Network"]
    for kind in ("AWS::EC2::NatGateway", "AWS::EC2::InternetGateway", "AWS::EC2::EIP"):
        network.resource_count_is(kind, 0)
    endpoints = network.find_resources("AWS::EC2::VPCEndpoint").values()
    names = json.dumps([entry["Properties"]["ServiceName"] for entry in endpoints])
    for service in ("eks", "eks-auth", "ecr.api", "ecr.dkr", "sts", "ec2", "s3", "logs", "ssm", "aps-workspaces"):
        assert f"com.amazonaws.us-east-2.{service}" in names or f".{service}" in names
    routes = network.find_resources("AWS::EC2::Route")
    assert routes == {}


def test_an_existing_cluster_gets_node_groups_only() -> None:
    result = templates("eks-own-cluster")
    result["Cluster"].resource_count_is("AWS::EKS::Cluster", 0)
    for template in result.values():
        template.resource_count_is("AWS::EKS::Addon", 0)
    group = only(result["Compute"], "AWS::EKS::Nodegroup")
    assert group["ClusterName"] == "platform"


def place() -> tuple[cdk.Stack, ec2.ISubnet, list[ec2.ISecurityGroup]]:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S", env=cdk.Environment(region="us-east-2"))
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-0123456789abcdef0")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Sg", "sg-0123456789abcdef0")
    return stack, subnet, [group]


def node_group(kind: str, way: str, os: eks.NodeOs) -> str:
    """`yes` if a combination synthesizes to a template that cfn-lint accepts, `no` otherwise."""
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
            EksNodeGroup(
                stack, "Group", cluster=cluster, name="train", template=template, subnet=subnet, node_role=role,
                count=18 if arm else 4, os=os,
            )  # fmt: skip
        else:
            EksSelfManagedNodeGroup(
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
    created = json.dumps(assertions.Template.from_stack(stack).to_json())
    assert problems(created) == []
    return "yes"


# docs/reference/capacity.md has the purchase options that neither EKS nor EC2 sells.
REFUSED = {"managed": {"interruptible reservation", "training plan"}, "self-managed": {"training plan"}}


@pytest.mark.parametrize("way", WAYS)
def test_node_groups_synthesise_where_the_service_supports_the_purchase_option(way: str) -> None:
    for kind, refused in REFUSED.items():
        supported = "no" if way in refused else "yes"
        assert [node_group(kind, way, os) for os in eks.NODE_OSES] == [supported] * 2


def created(**arguments: Any) -> tuple[cdk.Stack, EksCluster]:
    """A cluster in a VPC of the CDK."""
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "S", env=cdk.Environment(region="us-east-2"))
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"])
    ids = ("subnet-0123456789abcdef0", "subnet-0123456789abcdef1")
    subnets = [ec2.Subnet.from_subnet_id(stack, id, id) for id in ids]
    if "admins" in arguments:
        arguments["admins"] = arguments["admins"](stack)
    return stack, EksCluster(stack, "C", name="llama", version="1.35", vpc=vpc, subnets=subnets, **arguments)


def test_admins_are_roles_and_users_of_the_app_and_arns() -> None:
    def admins(stack: cdk.Stack) -> list[Any]:
        role = iam.Role(stack, "Team", assumed_by=iam.AccountRootPrincipal())
        other = iam.Role(stack, "Other", assumed_by=iam.AccountRootPrincipal())
        return [role, other.role_arn, iam.User(stack, "Ada"), "arn:aws:iam::123456789012:role/team/platform"]

    stack, cluster = created(admins=admins)
    cluster.grants.admin(iam.Role(stack, "Later", assumed_by=iam.AccountRootPrincipal())).assert_success()
    entries = assertions.Template.from_stack(stack).find_resources("AWS::EKS::AccessEntry").values()
    principals = json.dumps([entry["Properties"]["PrincipalArn"] for entry in entries])
    assert len(entries) == 5
    for name in ("Team", "Other", "Ada", "Later", "role/team/platform"):
        assert name in principals


def test_rejects_an_admin_without_arn_and_a_range_that_is_not_valid() -> None:
    with pytest.raises(ValueError, match="admins must hold IAM roles, users or their ARNs, got 'platform'"):
        created(admins=lambda stack: ["platform"])
    with pytest.raises(ValueError, match=r"public_access_cidrs must hold IPv4 ranges such as .*, got 'office'"):
        created(public_access_cidrs=["office"])


def test_rejects_a_template_of_another_service_and_a_cluster_with_one_subnet() -> None:
    stack, subnet, groups = place()
    template = compute.NodeGroupTemplate(stack, "T", instance_type="p5.48xlarge", security_groups=groups, subnet=subnet)
    cluster = l2.Cluster.from_cluster_attributes(stack, "Cluster", cluster_name="llama")
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/nodes")
    with pytest.raises(ValueError, match="the template must be for eks-managed, got self-managed"):
        EksNodeGroup(
            stack, "G", cluster=cluster, name="train", template=template, subnet=subnet, node_role=role, count=1
        )
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-east-2a"])
    with pytest.raises(ValueError, match="subnets must hold at least two") as caught:
        EksCluster(
            stack, "C", name="llama", version="1.30", vpc=vpc, subnets=[subnet], public_access_cidrs=["0.0.0.0/0"]
        )
    assert "allow_public_access_from_anywhere=True" in str(caught.value)


def test_system_nodes_are_in_two_zones(minimal: Any) -> None:
    control_plane = only(minimal["Cluster"], "AWS::EKS::Cluster")["ResourcesVpcConfig"]["SubnetIds"]
    assert only(minimal["Compute"], "AWS::EKS::Nodegroup", NodegroupName="system")["Subnets"] == control_plane
    assert len(control_plane) == 2
    assert len(only(minimal["Compute"], "AWS::EKS::Nodegroup", NodegroupName="train")["Subnets"]) == 1


def test_access_entries_are_of_roles_and_users() -> None:
    stack, cluster = created(admins=lambda stack: [])
    two = iam.CompositePrincipal(*(iam.ArnPrincipal(f"arn:aws:iam::123456789012:role/{name}") for name in "cd"))
    both, later = cluster.grants.admin(two), cdk.CfnWaitConditionHandle(stack, "Later")
    both.assert_success()
    both.apply_before(later)
    group, account = iam.Group(stack, "G"), iam.AccountPrincipal("123456789012")
    for nobody in (group, account, iam.AnyPrincipal(), iam.StarPrincipal()):
        assert not cluster.grants.admin(nobody).success, nobody
    template = assertions.Template.from_stack(stack)
    entries = template.find_resources("AWS::EKS::AccessEntry")
    arns = [entry["Properties"]["PrincipalArn"] for entry in entries.values()]
    assert sorted(arns, key=str) == ["arn:aws:iam::123456789012:role/c", "arn:aws:iam::123456789012:role/d"]
    assert template.find_resources(later.cfn_resource_type)[stack.get_logical_id(later)]["DependsOn"] == [*entries]
