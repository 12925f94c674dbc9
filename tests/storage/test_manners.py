"""Storage in existing apps: other stacks, alarms, imports, wrong input."""

import json
from collections.abc import Callable
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from support.clusterfile_data import GOOD
from support.templates import resources_of
from ultracluster import clusterfile, compute, network, observability, storage
from ultracluster.planning.home import size_openzfs
from ultracluster.planning.lustre import LustreGoal, plan_lustre
from ultracluster.rules import Refusal
from ultracluster.testing import assert_nothing_stateful_is_lost

ENV = cdk.Environment(account="123456789012", region="us-east-2")
SPEC = plan_lustre(LustreGoal(throughput_mb_per_s=1_000)).spec
FS = "fs-0123456789abcdef0"
FAR_KEY = "arn:aws:kms:us-east-1:123456789012:key/01234567-0123-0123-0123-0123456789ab"
MakeHome = Callable[[cdk.Stack, ec2.IVpc], Any]

HOMES: dict[str, MakeHome] = {
    "lustre": lambda stack, vpc: storage.LustreFileSystem(
        stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec=SPEC
    ),
    "openzfs": lambda stack, vpc: storage.OpenZfsHome(
        stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], size=size_openzfs(), client_ranges="10.0.0.0/16"
    ),
    "efs": lambda stack, vpc: storage.EfsHome(stack, "Fs", vpc=vpc, subnets=vpc.private_subnets[0]),
}
each_home = pytest.mark.parametrize("kind", HOMES)


def stacks(*names: str) -> list[cdk.Stack]:
    app = cdk.App(analytics_reporting=False)
    return [cdk.Stack(app, name, env=ENV) for name in names]


def rules(stack: cdk.Stack) -> int:
    """Number of rules in a stack, before it is synthesized."""
    kinds = ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
    return sum(entry.cfn_resource_type in kinds for entry in resources(stack))


def resources(stack: cdk.Stack) -> list[cdk.CfnResource]:
    return [cast(cdk.CfnResource, entry) for entry in stack.node.find_all() if cdk.CfnResource.is_cfn_resource(entry)]


def synth(stack: cdk.Stack) -> None:
    """Synthesise the whole app: a cycle between stacks raises."""
    cast(cdk.App, stack.node.root).synth()


# Other stacks


@each_home
def test_rules_go_to_the_stack_of_clients_that_mount_the_file_system(kind: str) -> None:
    base, data, compute = stacks("Network", "Storage", "Compute")
    vpc = ec2.Vpc(base, "Vpc", max_azs=1)
    home = HOMES[kind](data, vpc)
    before = rules(data)
    nodes = ec2.SecurityGroup(compute, "Nodes", vpc=vpc)
    home.allow_clients(nodes)
    # The nodes refer to the file system, as its mount does.
    cdk.CfnOutput(compute, "Device", value=home.mount("/shared").device)
    assert rules(compute) > 0
    assert rules(data) == before
    synth(data)


@each_home
def test_rules_go_to_the_stack_of_the_file_system_if_it_refers_to_the_clients(kind: str) -> None:
    base, data = stacks("Network", "Storage")
    vpc = ec2.Vpc(base, "Vpc", max_azs=1)
    nodes = network.EfaSecurityGroup(base, "Nodes", vpc=vpc)
    home = HOMES[kind](data, vpc)
    before = rules(data)
    home.allow_clients(nodes)
    assert rules(data) > before
    assert rules(base) == 2, "the group's own rules"
    synth(data)


def test_rules_go_where_the_caller_wants_them() -> None:
    base, data, extra = stacks("Network", "Storage", "Extra")
    vpc = ec2.Vpc(base, "Vpc", max_azs=1)
    home = HOMES["efs"](data, vpc)
    home.allow_clients(ec2.SecurityGroup(base, "Nodes", vpc=vpc), scope=extra)
    assert rules(extra) == 2
    synth(data)


@each_home
def test_any_construct_with_connections_is_a_client_and_twice_is_once(kind: str) -> None:
    (stack,) = stacks("Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    home = HOMES[kind](stack, vpc)
    instance = ec2.Instance(
        stack,
        "Instance",
        vpc=vpc,
        instance_type=ec2.InstanceType("c7i.large"),
        machine_image=ec2.MachineImage.latest_amazon_linux2023(),
    )
    home.allow_clients(instance)
    home.allow_clients(instance)
    home.allow_clients(ec2.SecurityGroup(stack, "Other", vpc=vpc))
    with pytest.raises(ValueError, match="Stack/Fs: clients must have a security group, got 'sg-1'"):
        home.allow_clients("sg-1")
    text = json.dumps(Template.from_stack(stack).to_json())
    assert text.count('"FromPort": 2049') == (0 if kind == "lustre" else 4)


def test_an_import_in_the_stack_of_the_clients_needs_no_rule_elsewhere() -> None:
    data, compute = stacks("Storage", "Compute")
    group = ec2.SecurityGroup.from_security_group_id(data, "Group", "sg-0123456789abcdef0")
    home = storage.EfsHome.from_efs_home_attributes(data, "Home", file_system_id=FS, security_group=group)
    vpc = ec2.Vpc(compute, "Vpc", max_azs=1)
    home.allow_clients(ec2.SecurityGroup(compute, "Nodes", vpc=vpc))
    assert rules(compute) == 2
    synth(data)


# Alarms


def test_every_figure_of_an_alarm_is_an_argument() -> None:
    (stack,) = stacks("Stack")
    home = HOMES["efs"](stack, ec2.Vpc(stack, "Vpc", max_azs=1))
    topic = sns.Topic(stack, "Topic")
    home.alarms.add("Iops", topic, threshold=55, evaluation_periods=2, period=cdk.Duration.minutes(10))
    home.alarms.add("Iops", actions.SnsAction(topic), id="IopsCritical", threshold=95)
    first, second = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    assert (first["Properties"]["Threshold"], first["Properties"]["EvaluationPeriods"]) == (55, 2)
    assert first["Properties"]["Period"] == 600
    assert "over 55 % of its operations for 20 minutes" in first["Properties"]["AlarmDescription"]
    assert second["Properties"]["Threshold"] == 95
    assert first["Properties"]["AlarmActions"] == second["Properties"]["OKActions"]


@pytest.mark.parametrize(
    ("periods", "period", "message"),
    [
        (0, None, "evaluation_periods must be 1 to"),
        (2_000, None, "evaluation_periods must be 1 to"),
        (8, cdk.Duration.days(1), r"must be 1 to 7 of 86400 seconds, got 8"),
        (1_441, cdk.Duration.minutes(1), r"must be 1 to 1,440 of 60 seconds, got 1,441"),
        (None, cdk.Duration.seconds(0), "period must be one minute or a multiple"),
        (None, cdk.Duration.seconds(90), "period must be one minute or a multiple"),
    ],
)
def test_rejects_periods_that_cloudwatch_does_not_accept(
    periods: int | None, period: cdk.Duration | None, message: str
) -> None:
    (stack,) = stacks("Stack")
    home = HOMES["efs"](stack, ec2.Vpc(stack, "Vpc", max_azs=1))
    with pytest.raises(Refusal, match=message):
        home.alarms.add("Iops", sns.Topic(stack, "Topic"), evaluation_periods=periods, period=period)


@pytest.mark.parametrize(
    ("iops", "expression"),
    [
        (6_000, "100 * MAX([r0 + w0]) / PERIOD(r0) / 6000"),
        (24_000, "100 * MAX([r0 + w0, r1 + w1]) / PERIOD(r0) / 12000"),
    ],
)
def test_the_alarm_of_metadata_iops_reads_each_target_against_its_share(iops: int, expression: str) -> None:
    metrics = storage.LustreMetrics(FS, metadata_iops=iops)
    metric = metrics.metric_metadata_iops_utilization()
    assert metric is not None
    config = metric.to_metric_config().math_expression
    assert config is not None
    assert config.expression == expression
    used = {name: cast(cloudwatch.Metric, item) for name, item in config.using_metrics.items()}
    assert {name: (item.metric_name, item.statistic, item.dimensions) for name, item in used.items()} == {
        f"{letter}{target}": (name, "Sum", {"FileSystemId": FS, "StorageTargetId": f"MDT{target:04d}"})
        for target in range(len(used) // 2)
        for letter, name in (("r", "DiskReadOperations"), ("w", "DiskWriteOperations"))
    }
    assert metrics.alarm_definitions()["MetadataIopsBusy"].threshold == 80
    assert "MetadataIopsBusy" not in storage.LustreMetrics(FS).alarm_definitions()
    # An alarm takes ten metrics.
    most = storage.LustreMetrics(FS, metadata_iops=192_000).metric_metadata_iops_utilization()
    assert most is not None
    most_config = most.to_metric_config().math_expression
    assert most_config is not None
    assert len(most_config.using_metrics) == 10


@each_home
def test_all_alarms_of_all_file_systems_take_the_same_arguments(kind: str) -> None:
    base, other = stacks("Stack", "Alarms")
    home = HOMES[kind](base, ec2.Vpc(base, "Vpc", max_azs=1))
    for name in home.alarms.names:
        alarm = home.alarms.add(
            name,
            sns.Topic(other, f"Topic{name}"),
            threshold=1,
            evaluation_periods=1,
            period=cdk.Duration.minutes(10),
            scope=other,
        )
        assert isinstance(alarm, cloudwatch.Alarm)
    alarms = Template.from_stack(other).find_resources("AWS::CloudWatch::Alarm").values()
    assert len(alarms) == len(home.alarms.names) >= 3
    for entry in alarms:
        assert (entry["Properties"]["Threshold"], entry["Properties"]["EvaluationPeriods"]) == (1, 1)


def test_rejects_an_unknown_alarm_and_an_action_that_is_none() -> None:
    (stack,) = stacks("Stack")
    lustre = HOMES["lustre"](stack, ec2.Vpc(stack, "Vpc", max_azs=1))
    topic = sns.Topic(stack, "Topic")
    with pytest.raises(ValueError, match=r"Stack/Fs: name must be one of Full, DiskBusy.*, got 'full'"):
        lustre.alarms.add("full", topic)
    with pytest.raises(ValueError, match=r"leave_out must hold names of Full, .*, got Export"):
        lustre.alarms.add_all(topic, leave_out=["Export"])
    with pytest.raises(ValueError, match="action must be an IAlarmAction or an ITopic, got 'arn:"):
        lustre.alarms.add("Full", "arn:aws:sns:us-east-2:123456789012:topic")


def test_an_association_has_alarms_of_both_queues() -> None:
    (stack,) = stacks("Stack")
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "my-data")
    link = storage.DataRepositoryAssociation(stack, "Link", file_system=FS, bucket=bucket, path="/data")
    link.alarms.add_all(sns.Topic(stack, "Topic"))
    result = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    publishers = {
        dimension["Value"]
        for alarm in result
        for dimension in alarm["Properties"]["Dimensions"]
        if dimension["Name"] == "Publisher"
    }
    assert publishers == {"AutoExport", "AutoImport"}


# Grants


PRINCIPALS: dict[str, Callable[[cdk.Stack], iam.IGrantable]] = {
    "service": lambda stack: iam.ServicePrincipal("bedrock.amazonaws.com"),
    "account": lambda stack: iam.AccountPrincipal("210987654321"),
}


@pytest.mark.parametrize("kind", PRINCIPALS)
def test_a_principal_without_policies_is_allowed_by_the_bucket_policy(kind: str) -> None:
    (stack,) = stacks("Stack")
    grantee = PRINCIPALS[kind](stack)
    key = kms.Key(stack, "Key")
    for grants in (
        storage.DataBucket(stack, "Data", key=key).grants,
        storage.ExpressBucket(stack, "Express", zone="use2-az1", key=key).grants,
    ):
        grants.read_write(grantee).assert_success()
    template = resources_of(stack)
    allowed = {
        entry["Type"]
        for entry in template.values()
        for statement in (entry["Properties"].get("PolicyDocument") or entry["Properties"].get("KeyPolicy") or {}).get(
            "Statement", []
        )
        if "bedrock" in json.dumps(statement) or "210987654321" in json.dumps(statement)
    }
    assert allowed == {"AWS::S3::BucketPolicy", "AWS::S3Express::BucketPolicy", "AWS::KMS::Key"}


def test_readers_of_an_express_bucket_get_read_only_sessions() -> None:
    stack = stacks("Stack")[0]
    reads = storage.ExpressBucket(stack, "Express", zone="use2-az1").grants.read
    other = iam.Role.from_role_arn(stack, "Other", "arn:aws:iam::210987654321:role/Other")
    outside = (iam.ArnPrincipal("arn:aws:iam::123456789012:role/R"), iam.OrganizationPrincipal("o-1234567890"), other)
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    for grantee in (role, iam.ManagedPolicy(stack, "Policy"), *outside):
        reads(grantee).assert_success()
    template = Template.from_stack(stack)
    (of_role,) = template.find_resources("AWS::IAM::Policy").values()
    (bucket,) = template.find_resources("AWS::S3Express::BucketPolicy").values()
    statements = [each for policy in (of_role, bucket) for each in policy["Properties"]["PolicyDocument"]["Statement"]]
    readers = [each["Condition"]["StringEquals"] for each in statements if each.get("Sid") != "Lifecycle"]
    mode = {"s3express:SessionMode": "ReadOnly"}
    assert [mode | each for each in readers] == readers
    assert sum(each.get("aws:PrincipalOrgID") == "o-1234567890" for each in readers) == 1


# Imported file systems in associations


def association(stack: cdk.Stack, file_system: Any) -> storage.DataRepositoryAssociation:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "my-data")
    return storage.DataRepositoryAssociation(stack, "Link", file_system=file_system, bucket=bucket, path="/data")


def test_an_association_takes_imported_file_systems_of_this_library_and_of_the_cdk() -> None:
    (library,), (other,) = stacks("Ours"), stacks("Theirs")
    imported = storage.LustreFileSystem.from_lustre_file_system_attributes(
        library, "Lustre", file_system_id=FS, mount_name="fsx"
    )
    group = ec2.SecurityGroup.from_security_group_id(other, "Group", "sg-0123456789abcdef0")
    of_the_cdk = fsx.LustreFileSystem.from_lustre_file_system_attributes(
        other, "Lustre", file_system_id=FS, dns_name="fs.example", security_group=group
    )
    for stack, file_system in ((library, imported), (other, of_the_cdk)):
        association(stack, file_system)
        Template.from_stack(stack).has_resource_properties("AWS::FSx::DataRepositoryAssociation", {"FileSystemId": FS})
        Annotations.from_stack(stack).has_warning(
            f"/{stack.node.path}/Link", Match.string_like_regexp("is not created in this app")
        )


def test_an_association_checks_a_file_system_of_the_cdk() -> None:
    (stack,) = stacks("Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    scratch = fsx.LustreFileSystem(
        stack,
        "Scratch",
        vpc=vpc,
        vpc_subnet=vpc.private_subnets[0],
        storage_capacity_gib=1200,
        lustre_configuration=fsx.LustreConfiguration(deployment_type=fsx.LustreDeploymentType.SCRATCH_1),
    )
    with pytest.raises(ValueError, match=r"Stack/Link: a SCRATCH_1 file system does not support associations"):
        association(stack, scratch)


def test_rejects_a_file_system_that_is_none() -> None:
    (stack,) = stacks("Stack")
    with pytest.raises(ValueError, match=r"Stack/Link: file_system must be an ILustreFileSystem or an .* or a string"):
        association(stack, None)


# Wrong input


@each_home
def test_rejects_a_subnet_of_another_vpc(kind: str) -> None:
    (stack,) = stacks("Stack")
    vpc, other = ec2.Vpc(stack, "Own", max_azs=1), ec2.Vpc(stack, "Other", max_azs=1)

    class Mixed:
        """The VPC of one, the subnets of the other."""

        private_subnets = other.private_subnets

        def __getattr__(self, name: str) -> Any:
            return getattr(vpc, name)

    with pytest.raises(
        ValueError,
        match=r"Stack/Fs: subnet\S* must be in the VPC Stack/Own/\S+ of vpc, got Stack/Other/.*\[other-vpc\]",
    ):
        HOMES[kind](stack, Mixed())


FAR: dict[str, Callable[[cdk.Stack, ec2.IVpc, kms.IKey], Any]] = {
    "lustre": lambda stack, vpc, key: storage.LustreFileSystem(
        stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec=SPEC, key=key
    ),
    "openzfs": lambda stack, vpc, key: storage.OpenZfsHome(
        stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], size=size_openzfs(), client_ranges="10.0.0.0/16", key=key
    ),
    "efs": lambda stack, vpc, key: storage.EfsHome(stack, "Fs", vpc=vpc, subnets=vpc.private_subnets, key=key),
    "data": lambda stack, vpc, key: storage.DataBucket(stack, "Fs", key=key),
    "express": lambda stack, vpc, key: storage.ExpressBucket(stack, "Fs", zone="use2-az1", key=key),
    "import": lambda stack, vpc, key: storage.DataBucket.from_data_bucket_attributes(
        stack, "Fs", bucket_name="my-data", key=key
    ),
}


@pytest.mark.parametrize("kind", FAR)
def test_rejects_a_key_of_another_region(kind: str) -> None:
    (stack,) = stacks("Stack")
    key = kms.Key.from_key_arn(stack, "Key", FAR_KEY)
    with pytest.raises(
        ValueError, match=r"Stack/Fs: key must be in us-east-2, the Region of the stack, got .*us-east-1"
    ):
        FAR[kind](stack, ec2.Vpc(stack, "Vpc", max_azs=1), key)


def test_rejects_a_log_bucket_and_a_zone_of_another_region() -> None:
    (stack,) = stacks("Stack")
    far = s3.Bucket.from_bucket_attributes(stack, "Far", bucket_name="my-logs", region="us-east-1")
    with pytest.raises(ValueError, match="Stack/Data: access_log_bucket must be in us-east-2"):
        storage.DataBucket(stack, "Data", access_log_bucket=far)
    with pytest.raises(ValueError, match=r"Stack/Express: zone must be a zone of us-east-2, .*, got use1-az4"):
        storage.ExpressBucket(stack, "Express", zone="use1-az4")


def test_rejects_efa_nodes_of_another_zone_than_an_imported_file_system() -> None:
    (stack,) = stacks("Stack")
    lustre = storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id=FS, mount_name="fsx", efa=True, zone="us-east-2a", cidr="10.0.128.0/18"
    )
    nodes = ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-0123456789abcdef0")
    far = ec2.Subnet.from_subnet_attributes(
        stack,
        "Far",
        subnet_id="subnet-0123456789abcdef0",
        availability_zone="us-east-2b",
        ipv4_cidr_block="10.0.0.0/20",
    )
    with pytest.raises(ValueError, match=r"Stack/Lustre: .*us-east-2b can't use EFA to a file system in us-east-2a"):
        lustre.allow_clients(nodes, subnets=far)


def test_an_imported_file_system_in_china_has_the_domain_of_other_regions() -> None:
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "Stack", env=cdk.Environment(region="cn-north-1"))
    imported = storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id=FS, mount_name="fsx"
    )
    assert imported.dns_name == f"{FS}.fsx.cn-north-1.amazonaws.com"


def test_rejects_what_an_import_cannot_be() -> None:
    (stack,) = stacks("Stack")
    with pytest.raises(ValueError, match="file_system_id must be fs- and 17") as caught:
        storage.LustreFileSystem.from_lustre_file_system_attributes(
            stack, "Lustre", file_system_id="lustre", mount_name="a b", cidr="10.0.0.0/99"
        )
    assert len(str(caught.value).splitlines()) == 3


def test_rejects_a_number_that_only_a_deployment_knows() -> None:
    (stack,) = stacks("Stack")
    days = cdk.CfnParameter(stack, "Days", type="Number").value_as_number
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(ValueError, match="Stack/Fs: backup_days must be known at synthesis, got a token"):
        storage.LustreFileSystem(stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec=SPEC, backup_days=days)  # type: ignore[arg-type]


def test_single_values_and_names_are_accepted() -> None:
    (stack,) = stacks("Stack")
    data = storage.DataBucket(stack, "Data", tier="GLACIER_IR", access_log_bucket=storage.LogBucket(stack, "Logs"))
    link = storage.DataRepositoryAssociation(
        stack, "Link", file_system=FS, bucket=data, path="/data", export_events="NEW"
    )
    storage.ColdDataRelease(
        stack, "Release", associations=link, paths="/data/old", not_accessed_for_days=7, mount_options="relatime"
    )
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation", {"S3": {"AutoExportPolicy": {"Events": ["NEW"]}}}
    )
    (schedule,) = template.find_resources("AWS::Scheduler::Schedule").values()
    assert '"Paths":["data/old"]' in json.dumps(schedule).replace("\\", "")


# Strings of the cluster file


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("40 GB/s", LustreGoal(throughput_mb_per_s=40_000)),
        ("100 TiB", LustreGoal(capacity_gib=102_400)),
    ],
)
def test_a_throughput_or_a_size_is_the_cheapest_file_system_for_it(text: str, goal: LustreGoal) -> None:
    (stack,) = stacks("Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    lustre = storage.LustreFileSystem(stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec=text)
    assert lustre.spec == plan_lustre(goal).spec


def test_a_throughput_follows_the_offer_of_the_region() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="123456789012", region="il-central-1"))
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    lustre = storage.LustreFileSystem(stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec="40 GB/s")
    assert not lustre.spec.efa
    assert lustre.spec.mb_per_s_per_tib in (125, 250)


@pytest.mark.parametrize("text", ["40 Gb/s", "40000", "fast", "0 GB/s"])
def test_rejects_a_text_that_is_no_throughput_and_no_size(text: str) -> None:
    (stack,) = stacks("Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(Refusal, match=r"Stack/Fs: spec: .*\[lustre-configuration\]"):
        storage.LustreFileSystem(stack, "Fs", vpc=vpc, subnet=vpc.private_subnets[0], spec=text)


# Other regions


def far_stack(near: cdk.Stack) -> cdk.Stack:
    env = cdk.Environment(account="123456789012", region="us-east-1")
    return cdk.Stack(cast(cdk.App, near.node.root), "Far", env=env)


def imported_home(stack: cdk.Stack, vpc: ec2.IVpc) -> Any:
    return storage.EfsHome.from_efs_home_attributes(stack, "Fs", file_system_id=FS)


@pytest.mark.parametrize("make", [*HOMES.values(), imported_home], ids=[*HOMES, "imported"])
def test_rejects_clients_of_another_region(make: MakeHome) -> None:
    (stack,) = stacks("Stack")
    home, far = make(stack, ec2.Vpc(stack, "Vpc", max_azs=1)), far_stack(stack)
    nodes = ec2.SecurityGroup(far, "Nodes", vpc=ec2.Vpc(far, "Vpc", max_azs=1))
    with pytest.raises(Refusal, match=r"Stack/Fs: clients must be in us-east-2, .* us-east-1 \[other-region\]"):
        home.allow_clients(nodes)


@each_home
def test_rejects_nodes_of_another_region_that_mount_it(kind: str) -> None:
    (stack,) = stacks("Stack")
    home, far = HOMES[kind](stack, ec2.Vpc(stack, "Vpc", max_azs=1)), far_stack(stack)
    vpc = ec2.Vpc(far, "Vpc", max_azs=1)
    with pytest.raises(ValueError, match=r"clients must be in us-east-2, .* us-east-1 \[other-region\]"):
        compute.AutoScalingNodeGroup(
            far,
            "Nodes",
            instance_type="c7i.large",
            count=1,
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            mounts={"/shared": home},
        )


def test_rejects_storage_of_another_region_for_a_cluster() -> None:
    (stack,) = stacks("Stack")
    far = far_stack(stack)
    vpc = ec2.Vpc(far, "Vpc", max_azs=1)
    near = cdk.Stack(stack.node.root, "Near", env=ENV)  # type: ignore[arg-type]
    handed_in = storage.Storage(
        home=HOMES["efs"](far, vpc),
        data_bucket=storage.DataBucket(far, "Data"),
        file_systems={"/fsx": HOMES["lustre"](near, ec2.Vpc(near, "Vpc", max_azs=1))},
    )
    cluster = clusterfile.loads(GOOD, "cluster.yaml")
    wrong = {problem.split()[0] for problem in handed_in.problems(cluster, None) if problem.rule.id == "other-region"}
    assert wrong == {"storage.home", "storage.data_bucket"}


def test_a_moved_construct_keeps_its_data_by_its_logical_ids() -> None:
    def data(moved: bool) -> tuple[cdk.Stack, list[cdk.CfnElement]]:
        (stack,) = stacks("Stack")
        scope = Construct(stack, "Moved") if moved else stack
        vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
        owners: list[Any] = [HOMES["lustre"](cast(cdk.Stack, scope), vpc), storage.DataBucket(scope, "Data")]
        owners.append(observability.PrometheusWorkspace(scope, "Metrics", alias="llama"))
        everything = (each for owner in owners for each in owner.node.find_all())
        return stack, [each for each in everything if cdk.CfnElement.is_cfn_element(each)]

    (before, deployed), (after, moved) = data(moved=False), data(moved=True)
    for old, new in zip(deployed, moved, strict=True):
        new.override_logical_id(before.get_logical_id(old))
    old_template = Template.from_stack(before).to_json()
    assert_nothing_stateful_is_lost(old_template, after)
    with pytest.raises(AssertionError, match="orphaned"):
        assert_nothing_stateful_is_lost(old_template, data(moved=True)[0])


def test_rejects_buckets_of_another_account() -> None:
    (stack,) = stacks("Stack")
    foreign = s3.Bucket.from_bucket_attributes(stack, "Foreign", bucket_name="central", account="210987654321")
    refused = r"must be in 123456789012, .* 210987654321 \[other-account\]"
    with pytest.raises(Refusal, match=f"Stack/Data: access_log_bucket {refused}"):
        storage.DataBucket(stack, "Data", access_log_bucket=foreign)
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(Refusal, match=f"Stack/Home: bucket {refused}"):
        storage.S3FilesHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets, bucket=foreign)
    with pytest.raises(Refusal, match=f"Stack/Old: bucket {refused}"):
        storage.S3FilesHome.from_s3_files_home_attributes(stack, "Old", file_system_id=FS, bucket=foreign)


def test_rejects_an_association_and_a_release_of_another_region() -> None:
    (stack,) = stacks("Stack")
    far = far_stack(stack)
    lustre = HOMES["lustre"](stack, ec2.Vpc(stack, "Vpc", max_azs=1))
    with pytest.raises(Refusal, match=r"Far/Link: file_system must be in us-east-1, .*\[other-region\]"):
        association(far, lustre)
    link = storage.DataRepositoryAssociation(
        stack, "Link", file_system=FS, bucket=storage.DataBucket(stack, "Data"), path="/data", export_events="NEW"
    )
    with pytest.raises(Refusal, match=r"Far/Release: associations must be in us-east-1, .*\[other-region\]"):
        storage.ColdDataRelease(far, "Release", associations=link, not_accessed_for_days=7, mount_options="relatime")


# Imported buckets


def test_an_imported_express_bucket_grants_by_the_policy_of_the_role() -> None:
    (stack,) = stacks("Stack")
    imported = storage.ExpressBucket.from_express_bucket_attributes(
        stack, "Express", bucket_name="scratch--use2-az1--x-s3", key=kms.Key(stack, "Key")
    )
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    imported.grants.read_write(role).assert_success()
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    text = json.dumps(policy)
    assert ":s3express:us-east-2:123456789012:bucket/scratch--use2-az1--x-s3" in text
    assert "kms:GenerateDataKey" in text


@pytest.mark.parametrize("name", ["scratch", "scratch--x-s3", "Scratch--use2-az1--x-s3", "scratch--us-east-2a--x-s3"])
def test_rejects_a_name_that_is_none_of_a_directory_bucket(name: str) -> None:
    (stack,) = stacks("Stack")
    with pytest.raises(Refusal, match=r"Stack/Express: bucket_name must be .*\[express-bucket\]"):
        storage.ExpressBucket.from_express_bucket_attributes(stack, "Express", bucket_name=name)


def test_rejects_an_imported_express_bucket_of_another_region() -> None:
    (stack,) = stacks("Stack")
    with pytest.raises(Refusal, match=r"bucket_name must be a zone of us-east-2, .*, got use1-az4 \[other-region\]"):
        storage.ExpressBucket.from_express_bucket_attributes(stack, "Express", bucket_name="a1b--use1-az4--x-s3")


def test_an_imported_log_bucket_takes_access_logs() -> None:
    (stack,) = stacks("Stack")
    logs = storage.LogBucket.from_log_bucket_attributes(stack, "Logs", bucket_name="my-logs")
    storage.DataBucket(stack, "Data", access_log_bucket=logs)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::S3::Bucket", 1)
    template.has_resource_properties("AWS::S3::Bucket", {"LoggingConfiguration": {"DestinationBucketName": "my-logs"}})


@each_home
def test_metrics_are_those_of_the_region_of_the_file_system(kind: str) -> None:
    (here,) = stacks("Here")
    env = cdk.Environment(account=ENV.account, region="us-east-1")
    there = cdk.Stack(cast(Construct, here.node.root), "There", env=env, cross_region_references=True)
    home = HOMES[kind](here, ec2.Vpc(here, "Vpc"))
    metric = home.metrics.metric("DataReadBytes")
    assert (metric.region, metric.account) == (ENV.region, ENV.account)
    widget = cloudwatch.GraphWidget(left=[metric])
    cloudwatch.Dashboard(there, "Board").add_widgets(widget)
    assert '\\"region\\":\\"us-east-2\\"' in json.dumps(Template.from_stack(there).to_json())
    with pytest.raises(Refusal, match=r"the resource must be in us-east-1, the Region of the stack, got .* us-east-2"):
        home.alarms.add_all(sns.Topic(there, "Topic"), scope=there)
    # So does the CDK, for an alarm of its kind.
    with pytest.raises(RuntimeError, match="Cannot create an Alarm in region 'us-east-1' based on metric"):
        cloudwatch.Alarm(there, "Alarm", metric=metric, threshold=1, evaluation_periods=1)
    with pytest.raises(Refusal, match=r"action must be in us-east-2, the Region of the stack, got .* us-east-1"):
        home.alarms.add_all(sns.Topic(there, "Other"))


def test_an_alarm_without_a_finite_threshold_is_refused_and_node_goes_on() -> None:
    (stack,) = stacks("Stack")
    home = HOMES["lustre"](stack, ec2.Vpc(stack, "Vpc"))
    topic = sns.Topic(stack, "Topic")
    for threshold in (float("nan"), float("inf")):
        with pytest.raises(Refusal, match=r"threshold must be a finite number, got (nan|inf)"):
            home.alarms.add("Full", topic, threshold=threshold)
    home.alarms.add("Full", topic)
