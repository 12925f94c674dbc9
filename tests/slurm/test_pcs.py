from collections.abc import Callable, Sequence

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match, Template

from ultracluster import compute
from ultracluster.boot import BootScript, NodeBoot, NodeFile, NodeScript, boot_script
from ultracluster.catalogue.ec2 import Layout
from ultracluster.catalogue.schedulers import pcs
from ultracluster.network import EfaSecurityGroup
from ultracluster.slurm import PcsCluster, PcsComputeNodeGroup, PcsLoginNodeGroup, PcsQueue

IMAGE = "ami-0123456789abcdef0"


class World:
    """A VPC with a cluster in it."""

    def __init__(self, stack: cdk.Stack, nodes: int = 65, name: str = "llama", version: str = "25.11") -> None:
        self.stack = stack
        self.vpc = ec2.Vpc(stack, "Vpc")
        self.subnet = self.vpc.private_subnets[0]
        self.group = EfaSecurityGroup(stack, "Nodes", vpc=self.vpc)
        self.cluster = PcsCluster(
            stack,
            "Slurm",
            name=name,
            max_instances=nodes,
            subnet=self.subnet,
            security_groups=[self.group],
            slurm_version=version,
        )

    def nodes(
        self,
        name: str = "train",
        capacity: compute.Capacity | None = None,
        count: int = 64,
        minimum: int | None = None,
        instance_type: str = "p5en.48xlarge",
        layout: Layout = "all-efa",
        boot: Sequence[BootScript | NodeScript] = (),
    ) -> PcsComputeNodeGroup:
        template = compute.NodeGroupTemplate(
            self.stack,
            f"{name}Template",
            instance_type=instance_type,
            layout=layout,
            service="pcs",
            capacity=capacity,
            security_groups=[self.group],
            subnet=self.subnet,
            image=IMAGE,
        )
        return PcsComputeNodeGroup(
            self.stack,
            name,
            cluster=self.cluster,
            name=name,
            template=template,
            count=count,
            minimum=minimum,
            boot=boot,
        )


@pytest.mark.parametrize(
    ("nodes", "size"), [(1, "SMALL"), (32, "SMALL"), (33, "MEDIUM"), (512, "MEDIUM"), (513, "LARGE")]
)
def test_the_size_of_the_controller_follows_from_the_nodes(
    nodes: int, size: str, stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    World(stack, nodes=nodes)
    template().has_resource_properties("AWS::PCS::Cluster", {"Size": size})


def test_the_keys_of_slurm_are_managed_by_pcs(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack)
    (cluster,) = template().find_resources("AWS::PCS::Cluster").values()
    assert set(cluster["Properties"]["SlurmConfiguration"]) == {"ScaleDownIdleTimeInSeconds", "Accounting"}


def test_the_role_of_the_nodes_has_the_path_of_pcs(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack)
    template().has_resource_properties("AWS::IAM::Role", {"Path": "/aws-pcs/", "RoleName": Match.absent()})
    template().has_resource_properties("AWS::IAM::InstanceProfile", {"Path": "/aws-pcs/"})


def test_nodes_may_register_and_use_session_manager_only(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack)
    (policy,) = template().find_resources("AWS::IAM::Policy").values()
    actions = {a for s in policy["Properties"]["PolicyDocument"]["Statement"] for a in s["Action"]}
    assert {a.split(":")[0] for a in actions} == {"pcs", "ssm", "ssmmessages"}
    assert not [a for a in actions if "*" in a]


def test_an_existing_role_is_used_and_no_other_created(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    role = iam.Role.from_role_name(stack, "Mine", "AWSPCS-mine")
    vpc = ec2.Vpc(stack, "Vpc")
    cluster = PcsCluster(
        stack,
        "Slurm",
        name="llama",
        max_instances=2,
        subnet=vpc.private_subnets[0],
        security_groups=[EfaSecurityGroup(stack, "Nodes", vpc=vpc)],
        node_role=role,
    )
    assert cluster.node_role is role
    template().resource_count_is("AWS::IAM::Role", 0)
    template().has_resource_properties("AWS::IAM::InstanceProfile", {"Path": "/aws-pcs/", "Roles": ["AWSPCS-mine"]})


def test_rejects_an_instance_profile_whose_role_is_not_known(stack: cdk.Stack) -> None:
    profile = iam.InstanceProfile.from_instance_profile_arn(
        stack, "Profile", "arn:aws:iam::123456789012:instance-profile/aws-pcs/Login"
    )
    world = World(stack)
    with pytest.raises(ValueError, match="instance_profile must have a role that is known at synthesis"):
        PcsLoginNodeGroup(
            stack,
            "Login",
            cluster=world.cluster,
            instance_type="c7i.8xlarge",
            subnet=world.subnet,
            security_groups=[world.group],
            image=IMAGE,
            instance_profile=profile,
        )


def test_reserved_nodes_are_always_up(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack).nodes(capacity=compute.TargetedReservation(reservation_id="cr-0123456789abcdef0"))
    template().has_resource_properties(
        "AWS::PCS::ComputeNodeGroup",
        {"ScalingConfiguration": {"MinInstanceCount": 64, "MaxInstanceCount": 64}},
    )


@pytest.mark.parametrize("capacity", [compute.OnDemand(), compute.Spot()])
def test_nodes_paid_by_the_hour_are_powered_on_for_jobs(
    capacity: compute.Capacity, stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    World(stack).nodes(capacity=capacity)
    template().has_resource_properties(
        "AWS::PCS::ComputeNodeGroup",
        {"ScalingConfiguration": {"MinInstanceCount": 0, "MaxInstanceCount": 64}},
    )


@pytest.mark.parametrize(
    ("capacity", "word"),
    [
        (compute.OnDemand(), "ONDEMAND"),
        (compute.Spot(), "SPOT"),
        (compute.TargetedReservation(reservation_id="cr-0123456789abcdef0"), "ONDEMAND"),
        (compute.CapacityBlock(reservation_id="cr-0123456789abcdef0"), "CAPACITY_BLOCK"),
        (
            compute.InterruptibleReservation(reservation_id="cr-0123456789abcdef0"),
            "INTERRUPTIBLE_CAPACITY_RESERVATION",
        ),
    ],
)
def test_the_purchase_option_follows_the_capacity(
    capacity: compute.Capacity, word: str, stack: cdk.Stack, template: Callable[[], Template]
) -> None:
    World(stack).nodes(capacity=capacity)
    template().has_resource_properties("AWS::PCS::ComputeNodeGroup", {"PurchaseOption": word})


def test_an_ultraserver_is_a_capacity_block_for_pcs(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    block = compute.UltraServerBlock(reservation_id="cr-0123456789abcdef0")
    World(stack).nodes(capacity=block, count=18, instance_type="p6e-gb200.36xlarge", layout="one-ip")
    template().has_resource_properties("AWS::PCS::ComputeNodeGroup", {"PurchaseOption": "CAPACITY_BLOCK"})


@pytest.mark.parametrize(("count", "instances"), [(10, None), (9, 18), (36, None), (1, None)])
def test_rejects_a_part_of_an_ultraserver(count: int, instances: int | None, stack: cdk.Stack) -> None:
    block = compute.UltraServerBlock(reservation_id="cr-0123456789abcdef0", instances=instances)
    with pytest.raises(ValueError, match=f"count must be a whole UltraServer, .*, got {count}"):
        World(stack).nodes(capacity=block, count=count, instance_type="p6e-gb200.36xlarge", layout="one-ip")


def test_rejects_more_nodes_than_a_capacity_block_holds(stack: cdk.Stack) -> None:
    block = compute.CapacityBlock(reservation_id="cr-0123456789abcdef0", instances=16)
    with pytest.raises(ValueError, match="at most the 16 instances"):
        World(stack).nodes(capacity=block, count=17)


def test_interruptible_nodes_have_no_minimum(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack).nodes(capacity=compute.InterruptibleReservation(reservation_id="cr-0123456789abcdef0"), count=8)
    template().has_resource_properties(
        "AWS::PCS::ComputeNodeGroup", {"ScalingConfiguration": {"MinInstanceCount": 0, "MaxInstanceCount": 8}}
    )


def test_rejects_a_template_for_another_service_all_reasons_at_once(stack: cdk.Stack) -> None:
    world = World(stack)
    template = compute.NodeGroupTemplate(stack, "Template", instance_type="p5.48xlarge", security_groups=[world.group])
    with pytest.raises(ValueError, match=r"(?s)must be for pcs, got self-managed.*has no subnet.*has no image"):
        PcsComputeNodeGroup(stack, "Train", cluster=world.cluster, name="train", template=template, count=1)


def test_a_new_version_of_the_template_reaches_the_nodes(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    World(stack).nodes()
    template().has_resource_properties(
        "AWS::PCS::ComputeNodeGroup",
        {"CustomLaunchTemplate": {"Version": {"Fn::GetAtt": [Match.any_value(), "LatestVersionNumber"]}}},
    )


def test_a_login_group_has_no_queue_and_no_efa(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    world = World(stack)
    PcsLoginNodeGroup(
        stack,
        "Login",
        cluster=world.cluster,
        instance_type="c7i.2xlarge",
        subnet=world.subnet,
        security_groups=[world.group],
        image=IMAGE,
    )
    template().resource_count_is("AWS::PCS::Queue", 0)
    (result,) = template().find_resources("AWS::EC2::LaunchTemplate").values()
    (interface,) = result["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
    assert interface["InterfaceType"] == "interface"


@pytest.mark.parametrize(("instance_type", "groups"), [("c7i.2xlarge", 1), ("g6.xlarge", 0)])
def test_login_nodes_without_gpus_are_on_separate_hardware(
    stack: cdk.Stack, template: Callable[[], Template], instance_type: str, groups: int
) -> None:
    world = World(stack)
    PcsLoginNodeGroup(
        stack,
        "Login",
        cluster=world.cluster,
        instance_type=instance_type,
        subnet=world.subnet,
        security_groups=[world.group],
        image=IMAGE,
    )
    template().resource_count_is("AWS::EC2::PlacementGroup", groups)


def test_a_queue_spans_its_node_groups(stack: cdk.Stack, template: Callable[[], Template]) -> None:
    world = World(stack)
    PcsQueue(
        stack,
        "Queue",
        cluster=world.cluster,
        name="all",
        node_groups=[world.nodes("one"), world.nodes("two")],
    )
    (queue,) = template().find_resources("AWS::PCS::Queue").values()
    assert len(queue["Properties"]["ComputeNodeGroupConfigurations"]) == 2


def test_rejects_a_cluster_that_pcs_cannot_have_all_reasons_at_once(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"(?s)Stack/Slurm: .*pcs_llama.*\n.*2048"):
        World(stack, nodes=3000, name="pcs_llama", version="23.02")


@pytest.mark.parametrize(("count", "minimum"), [(0, None), (4, 5), (4, -1)])
def test_rejects_counts_out_of_range(count: int, minimum: int | None, stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="minimum must be between 0 and count"):
        World(stack).nodes(count=count, minimum=minimum)


@pytest.mark.parametrize("name", ["ab", "x" * 26, "1train", "tr ain", "pcs_x", "train_1"])
def test_rejects_names_that_pcs_refuses(name: str, stack: cdk.Stack) -> None:
    world = World(stack)
    with pytest.raises(ValueError, match=r"3 to 25|3-25"):
        PcsQueue(stack, "Queue", cluster=world.cluster, name=name, node_groups=[world.nodes()])


def test_names_of_node_groups_and_of_queues_are_unique_in_a_cluster(stack: cdk.Stack) -> None:
    world = World(stack)
    group = world.nodes("train")
    PcsQueue(stack, "Queue", cluster=world.cluster, name="train", node_groups=[group])
    with pytest.raises(ValueError, match=r"Stack/Second: name must be unique .*, the name of the node group 'train'"):
        PcsComputeNodeGroup(stack, "Second", cluster=world.cluster, name="train", template=group.template, count=64)
    with pytest.raises(ValueError, match=r"Stack/All: .* the name of the queue 'Queue' \[name-in-cluster\]"):
        PcsQueue(stack, "All", cluster=world.cluster, name="train", node_groups=[group])


def test_accepts_every_supported_slurm_version(stack: cdk.Stack) -> None:
    for version in pcs.SLURM_VERSIONS:
        World(cdk.Stack(), version=version)


def test_a_region_without_pcs_is_a_warning_as_regions_are_added() -> None:
    for region, count in (("us-west-1", 1), ("us-east-2", 0)):
        stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="123456789012", region=region))
        World(stack)
        warnings = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("PCS is not available in"))
        assert len(warnings) == count


def test_groups_with_one_boot_share_one_script_that_their_role_may_read(stack: cdk.Stack) -> None:
    world = World(stack)
    scripts = [
        boot_script(NodeBoot(files=(NodeFile(path="/etc/x", text=word, mode="0644"),), units=())) for word in "ab"
    ]
    for name, script in (("one", scripts[0]), ("two", scripts[0]), ("three", scripts[1])):
        PcsLoginNodeGroup(
            stack,
            name,
            cluster=world.cluster,
            name=name,
            instance_type="c7i.2xlarge",
            subnet=world.subnet,
            security_groups=[world.group],
            image=IMAGE,
            boot=script,
        )
    template = Template.from_stack(stack)
    groups = template.find_resources("AWS::PCS::ComputeNodeGroup").values()
    sources = [
        group["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"][0]["ScriptSource"] for group in groups
    ]
    assert [source["Checksum"] for source in sources].count(scripts[0].sha256) == 2
    assert len({(source["Checksum"], str(source["ScriptLocation"])) for source in sources}) == 2
    (policy,) = template.find_resources(
        "AWS::IAM::Policy", {"Properties": {"PolicyName": Match.string_like_regexp("NodeScripts")}}
    ).values()
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "s3:GetObject"
    assert len(statement["Resource"]) == 2
    assert "*" not in str(statement["Resource"])


def test_a_group_runs_its_scripts_in_order_and_continues_after_a_failure_it_accepts(stack: cdk.Stack) -> None:
    first = BootScript(text="#!/bin/sh\n", name="first", on_error="CONTINUE")
    World(stack).nodes(boot=[first, boot_script()])
    (group,) = Template.from_stack(stack).find_resources("AWS::PCS::ComputeNodeGroup").values()
    scripts = group["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
    actions = [(script["Name"], script["OnError"], script["ExecutionPolicy"]) for script in scripts]
    assert actions == [("first", "CONTINUE", "EVERY_BOOT"), ("ultracluster-boot", "TERMINATE", "EVERY_BOOT")]


def test_a_group_without_a_boot_has_no_lifecycle_actions(stack: cdk.Stack) -> None:
    World(stack).nodes()
    (group,) = Template.from_stack(stack).find_resources("AWS::PCS::ComputeNodeGroup").values()
    assert "NodeLifecycleActions" not in group["Properties"]


def test_scripts_at_public_addresses_need_no_policy(stack: cdk.Stack) -> None:
    """IAM accepts no policy without a statement, and the CDK refuses one to which a node group refers."""
    public = NodeScript(name="ca", url="https://example.com/ca.sh", sha256="1" * 64)
    World(stack).nodes(boot=[public])
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::PCS::ComputeNodeGroup", 1)
    assert "NodeScripts" not in str(template.find_resources("AWS::IAM::Policy").keys())


def test_nodes_may_read_exactly_the_objects_that_their_scripts_name(stack: cdk.Stack) -> None:
    private = NodeScript(name="agent", url="s3://tools/edr/install.sh", sha256="0" * 64, arguments=["--group", "x"])
    public = NodeScript(name="ca", url="https://example.com/ca.sh", sha256="1" * 64, stage="nodeReady")
    World(stack).nodes(boot=[boot_script(), private, public])
    template = Template.from_stack(stack)
    (group,) = template.find_resources("AWS::PCS::ComputeNodeGroup").values()
    stages = group["Properties"]["NodeLifecycleActions"]["Stages"]
    assert [script["Name"] for script in stages["NodeBootstrapped"]] == ["ultracluster-boot", "agent"]
    assert stages["NodeReady"] == [
        {
            "Name": "ca",
            "ScriptSource": {"ScriptLocation": "https://example.com/ca.sh", "Checksum": "1" * 64},
            "ExecutionPolicy": "FIRST_BOOT_ONLY",
            "OnError": "TERMINATE",
        }
    ]
    (policy,) = template.find_resources(
        "AWS::IAM::Policy", {"Properties": {"PolicyName": Match.string_like_regexp("NodeScripts")}}
    ).values()
    boot, agent = policy["Properties"]["PolicyDocument"]["Statement"][0]["Resource"]
    assert "asset" in str(boot) or "cdk-hnb659fds" in str(boot)
    assert str(agent).endswith(":s3:::tools/edr/install.sh']]}") or str(agent) == "arn:aws:s3:::tools/edr/install.sh"


def test_a_node_group_takes_twenty_scripts_of_a_stage(stack: cdk.Stack) -> None:
    scripts = [NodeScript(name=f"s{n}", url="s3://tools/x.sh", sha256="0" * 64) for n in range(20)]
    with pytest.raises(ValueError, match="may have 20 scripts"):
        World(stack).nodes(boot=[boot_script(), *scripts])


def test_metrics_are_those_of_the_cluster(stack: cdk.Stack) -> None:
    """https://docs.aws.amazon.com/pcs/latest/userguide/monitoring-cloudwatch_metrics.html (read 2026-11-23)"""
    cluster = World(stack).cluster
    cluster.metrics.metric_idle_capacity().create_alarm(stack, "Idle", threshold=0, evaluation_periods=60)
    cluster.metrics.metric_pending_capacity().create_alarm(stack, "Pending", threshold=0, evaluation_periods=30)
    alarms = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    metrics = [
        entry.get("MetricStat", {}).get("Metric", entry)
        for alarm in alarms
        for entry in alarm["Properties"].get("Metrics", [alarm["Properties"]])
    ]
    published = {entry["MetricName"]: entry for entry in metrics if "MetricName" in entry}
    assert set(published) == {"IdleCapacity", "DesiredCapacity", "ActualCapacity"}
    id = stack.resolve(cluster.cluster_id)
    for entry in published.values():
        assert (entry["Namespace"], entry["Dimensions"]) == ("AWS/PCS", [{"Name": "ClusterId", "Value": id}])
