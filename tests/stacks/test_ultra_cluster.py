"""A whole cluster as one construct, in the stack of another app."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Template

from cdk_rehearsal.rehearsal import LocalCloud
from support import EXAMPLES, ROOT
from support.clusterfile_data import GOOD
from support.templates import resources_of, templates
from ultracluster import clusterfile, network, storage
from ultracluster.eks import KubernetesCluster
from ultracluster.stacks import ClusterStacks, UltraCluster
from ultracluster.stacks._environment import add_environment_rule

SLURM, EKS = ROOT / "examples" / "slurm-512-gpus.yaml", ROOT / "examples" / "eks-minimal.yaml"
OF_ORCHESTRATORS = [SLURM, EKS, *(ROOT / f"examples/hyperpod-{name}.yaml" for name in ("slurm", "kubernetes"))]
ENV = cdk.Environment(account="123456789012", region="us-east-2")


def renamed(file: Path, name: str) -> clusterfile.ClusterFile:
    """A cluster file under another name."""
    lines = [f"name: {name}" if line.startswith("name:") else line for line in file.read_text().splitlines()]
    return clusterfile.loads("\n".join(lines) + "\n", str(file))


def app() -> cdk.App:
    # Neither is in a template, and both take time.
    return cdk.App(analytics_reporting=False, tree_metadata=False, stack_traces=False)


def in_a_stage(file: Path) -> cdk.Stack:
    cluster = clusterfile.load(file)
    env = cdk.Environment(account=cluster.account or ENV.account, region=cluster.region)
    stack = cdk.Stack(cdk.Stage(app(), "Prod", env=env), "S")
    UltraCluster(stack, "Cluster", cluster=cluster)
    return stack


def together_without_environment(files: Sequence[Path]) -> cdk.Stack:
    stack = cdk.Stack(app(), "S")
    for name, file in zip(("one", "two"), files, strict=True):
        UltraCluster(stack, name, cluster=renamed(file, name))
    return stack


@cache
def kinds_of_the_stacks(file: Path) -> list[str]:
    apart = templates(clusterfile.load(file)).values()
    # A stack of an app has the policy that its author sets.
    return [
        resource["Type"]
        for template in apart
        for name, resource in template["Resources"].items()
        if not name.startswith("StackPolicies")
    ]


def kinds(stack: cdk.Stack) -> list[str]:
    return sorted(resource["Type"] for resource in resources_of(stack).values())


@pytest.mark.parametrize("file", OF_ORCHESTRATORS, ids=lambda path: path.stem)
def test_an_example_of_each_orchestrator_synthesises_in_a_stage(file: Path) -> None:
    assert kinds(in_a_stage(file)) == sorted(kinds_of_the_stacks(file))


def test_a_stack_without_environment_is_refused_elsewhere_by_cloudformation() -> None:
    text = EKS.read_text() + "account: '123456789012'\n"
    cluster = clusterfile.loads(text, "c.yaml")
    known = cdk.Stack(app(), "S", env=cdk.Environment(account=cluster.account, region=cluster.region))
    unknown = cdk.Stack(app(), "S")
    rules = []
    for stack in (known, unknown):
        UltraCluster(stack, "Cluster", cluster=cluster)
        rules.append(Template.from_stack(stack).to_json()["Rules"])
    bodies = [{name: body for name, body in each.items() if name.startswith("Cluster")} for each in rules]
    assert bodies[0] == {}
    (rule,) = bodies[1].values()
    assert [row["Assert"] for row in rule["Assertions"]] == [
        {"Fn::Equals": [{"Ref": "AWS::Region"}, cluster.region]},
        {"Fn::Equals": [{"Ref": "AWS::AccountId"}, "123456789012"]},
    ]


def test_the_local_cloud_refuses_a_stack_in_another_region() -> None:
    stack = cdk.Stack(app(), "S", synthesizer=cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False))
    add_environment_rule(stack, clusterfile.loads(GOOD, "c.yaml"))
    cdk.CfnResource(stack, "Group", type="AWS::EC2::PlacementGroup")
    text = json.dumps(Template.from_stack(stack).to_json())
    with LocalCloud() as cloud:
        for region in ("us-east-2", "us-west-2"):
            cloud.client("cloudformation", region).create_stack(StackName="S", TemplateBody=text)
        assert [stack.status for stack in cloud.stacks] == ["CREATE_COMPLETE", "ROLLBACK_COMPLETE"]
        reasons = [event.get("ResourceStatusReason", "") for event in cloud.stacks[1].events]
    assert any(
        "the cluster file has region: us-east-2, and the stack is deployed elsewhere" in text for text in reasons
    )


# tests/house/test_contract.py puts two of each construct into one stack.
PAIRS = [(SLURM, SLURM), *zip(EXAMPLES[::2], [*EXAMPLES[1::2], SLURM], strict=False)]


@pytest.mark.parametrize("files", PAIRS, ids=lambda files: "+".join(path.stem for path in files))
def test_every_example_synthesises_beside_another_without_account_and_region(files: tuple[Path, Path]) -> None:
    expected = [kind for file in files for kind in kinds_of_the_stacks(file)]
    assert kinds(together_without_environment(files)) == sorted(expected)


def test_every_example_stands_beside_another() -> None:
    assert {file for files in PAIRS for file in files} == set(EXAMPLES)


@pytest.mark.parametrize("file", [SLURM, EKS], ids=lambda path: path.stem)
def test_outputs_are_those_of_the_stacks(file: Path) -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    outputs = UltraCluster(stack, "Cluster", cluster=clusterfile.load(file)).outputs
    apart = templates(clusterfile.load(file)).values()
    # References between stacks have no description.
    expected = {id for template in apart for id, output in template["Outputs"].items() if "Description" in output}
    assert expected == set(outputs)
    assert ("LoginCommand" if file is SLURM else "KubeconfigCommand") in outputs
    assert {"Dashboards", "DataBucketName"} <= set(outputs)


def test_rejects_a_stack_in_another_region_or_account() -> None:
    text = SLURM.read_text() + "account: '210987654321'\n"
    stack = cdk.Stack(app(), "S", env=cdk.Environment(account="123456789012", region="eu-west-1"))
    with pytest.raises(ValueError, match="has region: us-east-2, and the stack or stage is in eu-west-1") as caught:
        UltraCluster(stack, "Cluster", cluster=clusterfile.loads(text, "c.yaml"))
    assert "has account: 210987654321, and the stack or stage is in 123456789012" in str(caught.value)
    stage = cdk.Stage(app(), "Prod", env=cdk.Environment(region="eu-west-1"))
    with pytest.raises(ValueError, match="Prod: the cluster file has region: us-east-2"):
        ClusterStacks(stage, cluster=clusterfile.load(SLURM))


def test_the_stacks_take_the_account_of_their_stage() -> None:
    stage = cdk.Stage(app(), "Prod", env=ENV)
    assert {stack.account for stack in ClusterStacks(stage, cluster=clusterfile.load(SLURM)).stacks} == {ENV.account}


def bare(file: Path) -> clusterfile.ClusterFile:
    """A cluster file without storage."""
    text = file.read_text()
    cluster = clusterfile.loads(text, "c.yaml")
    return clusterfile.loads(text.split("\nstorage:")[0] + "\n", "c.yaml") if cluster.storage.lustre else cluster


def existing_lustre(stack: cdk.Stack) -> storage.ILustreFileSystem:
    group = ec2.SecurityGroup.from_security_group_id(stack, "LustreGroup", "sg-0123456789abcdef0")
    return storage.LustreFileSystem.from_lustre_file_system_attributes(
        stack, "Lustre", file_system_id="fs-0123456789abcdef0", mount_name="abcdefgh", security_group=group
    )


def test_an_existing_file_system_is_mounted_and_its_group_admits_the_nodes() -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    lustre = existing_lustre(stack)
    mounted = storage.Storage(lustre=lustre)
    cluster = UltraCluster(stack, "Cluster", cluster=bare(SLURM), network=existing_network(stack), storage=mounted)
    assert [mount.path for mount in cluster.storage.mounts] == ["/fsx"]
    rules = [entry for entry in resources_of(stack).values() if entry["Type"] == "AWS::EC2::SecurityGroupIngress"]
    assert [entry for entry in rules if entry["Properties"]["GroupId"] == "sg-0123456789abcdef0"]
    assert "MountCommand" in cluster.outputs


def test_file_systems_of_another_stack_are_mounted_and_admit_the_nodes() -> None:
    parent = app()
    data, stack = cdk.Stack(parent, "Data", env=ENV), cdk.Stack(parent, "S", env=ENV)
    vpc = ec2.Vpc(data, "Vpc", max_azs=1)
    spec = clusterfile.load(SLURM).lustre_spec
    assert spec is not None
    lustre = storage.LustreFileSystem(data, "Lustre", vpc=vpc, subnet=vpc.private_subnets[0], spec=spec)
    shared = storage.EfsHome(data, "Shared", vpc=vpc, subnets=vpc.private_subnets)
    given = storage.Storage(lustre=lustre, file_systems={"/shared": shared})
    subnet = vpc.private_subnets[0]
    nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    near = network.Network(vpc=vpc, training_subnet=subnet, services_subnet=subnet, nodes=nodes)
    cluster = UltraCluster(stack, "Cluster", cluster=bare(SLURM), network=near, storage=given)
    assert [mount.path for mount in cluster.storage.mounts] == ["/shared", "/fsx"]
    nodes = stack.resolve(cluster.network.nodes.security_group_id)
    rules = [
        entry["Properties"]
        for entry in resources_of(stack).values()
        if entry["Type"] == "AWS::EC2::SecurityGroupIngress"
    ]
    ports = {rule.get("FromPort") for rule in rules if rule["SourceSecurityGroupId"] == nodes}
    assert 2049 in ports


def test_an_existing_file_system_is_mounted_where_the_caller_mounts_it() -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    lustre = existing_lustre(stack)
    given = storage.Storage(lustre=lustre, file_systems={"/data": lustre})
    cluster = UltraCluster(stack, "Cluster", cluster=bare(SLURM), network=existing_network(stack), storage=given)
    assert [mount.path for mount in cluster.storage.mounts] == ["/data"]
    assert str(cluster.outputs["MountCommand"].value).endswith(" /data")


def test_rejects_a_storage_without_what_the_file_requires() -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    with pytest.raises(ValueError, match=r"storage has no lustre, .*storage\.lustre") as caught:
        UltraCluster(stack, "Cluster", cluster=clusterfile.load(SLURM), storage=storage.Storage())
    assert "give Storage(lustre=...), or remove storage.lustre from the file" in str(caught.value)
    text = SLURM.read_text().split("\nstorage:")[0] + "\nstorage: {data-bucket: true}\n"
    with pytest.raises(ValueError, match=r"storage has no data_bucket, and the cluster file has storage\.data-bucket"):
        UltraCluster(stack, "Bucket", cluster=clusterfile.loads(text, "c.yaml"), storage=storage.Storage())


def existing_network(stack: cdk.Stack, *, zone: str = "us-east-2a", **more: Any) -> network.Network:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=[zone])
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "Subnet", subnet_id="subnet-0123456789abcdef0", availability_zone=zone
    )
    nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    return network.Network(vpc=vpc, training_subnet=subnet, services_subnet=subnet, nodes=nodes, **more)


def test_an_existing_network_takes_the_place_of_that_of_the_file() -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    UltraCluster(stack, "Cluster", cluster=clusterfile.load(SLURM), network=existing_network(stack))
    result = resources_of(stack)
    assert not [entry for entry in result.values() if entry["Type"] in ("AWS::EC2::VPC", "AWS::EC2::Subnet")]
    assert '"SubnetIds": ["subnet-0123456789abcdef0"]' in json.dumps(result)


def test_rejects_a_network_of_another_region_or_without_a_required_zone() -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    elsewhere = existing_network(stack, zone="eu-west-1a")
    with pytest.raises(ValueError, match=r"network.training_subnet must be in us-east-2, got a subnet in eu-west-1a"):
        UltraCluster(stack, "Cluster", cluster=clusterfile.load(SLURM), network=elsewhere)
    own_vpc, north = ROOT / "examples" / "slurm-own-vpc.yaml", cdk.Stack(app(), "North")
    with pytest.raises(ValueError, match=r"given twice: by the argument and by network\.existing"):
        UltraCluster(north, "Own", cluster=clusterfile.load(own_vpc), network=existing_network(north))
    other = cdk.Stack(app(), "Other", env=ENV)
    with pytest.raises(ValueError, match=r"EKS requires subnets in two zones.*zone_subnets=\{'use2-az\d'"):
        UltraCluster(other, "Kubernetes", cluster=clusterfile.load(EKS), network=existing_network(other))


def test_two_clusters_with_compliance_stand_in_one_stack() -> None:
    stack = cdk.Stack(app(), "Stack", env=ENV)
    kms.Key(stack, "LogKey")
    for name in ("llama", "alpaca"):
        text = f"{GOOD.replace('name: llama', f'name: {name}')}compliance: [hipaa]\n"
        UltraCluster(stack, name, cluster=clusterfile.loads(text, "c.yaml"))
    groups = [child for child in stack.node.find_all() if logs.CfnLogGroup.is_cfn_log_group(child)]
    assert groups
    keys = {str(stack.resolve(group.kms_key_id)) for group in cast(list[logs.CfnLogGroup], groups)}
    assert len(keys) == 2


def test_the_key_of_log_groups_is_for_cloudwatch_logs_of_the_partition() -> None:
    """region-info/lib/default.js of aws-cdk-lib 2.275.0 has the domain of the partition for `logs`."""
    text = EKS.read_text().replace("us-east-2", "cn-north-1").replace("use2", "cnn1").replace("arn:aws:", "arn:aws-cn:")
    cluster = clusterfile.loads(f"{text}compliance: [pci-dss]\nobservability: {{profile: none}}\n", "c.yaml")
    (key,) = (
        resource["Properties"]["KeyPolicy"]["Statement"][-1]
        for template in templates(cluster).values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::KMS::Key" and "Log groups" in resource["Properties"]["Description"]
    )
    assert key["Principal"] == {"Service": "logs.cn-north-1.amazonaws.com.cn"}


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_roles_may_be_those_of_an_organization(orchestrator: str) -> None:
    customized = app()
    iam.Role.customize_roles(customized, prevent_synthesis=True)
    stack = cdk.Stack(customized, "Stack", env=ENV)
    text = GOOD.replace("orchestrator: slurm", f"orchestrator: {orchestrator}")
    UltraCluster(stack, "Cluster", cluster=clusterfile.loads(text, "c.yaml"))
    assert "AWS::EC2::LaunchTemplate" in kinds(stack)


def test_node_groups_are_granted_and_connected() -> None:
    """mypy checks this file: neither needs a cast."""
    stack = cdk.Stack(app(), "Stack", env=ENV)
    cluster = UltraCluster(stack, "Cluster", cluster=clusterfile.loads(GOOD, "c.yaml"))
    data = storage.DataBucket.from_data_bucket_attributes(stack, "Data", bucket_name="my-bucket")
    data.grants.read(cluster.node_groups["train"]).assert_success()
    assert data.metrics.metric_size().region == ENV.region
    group = ec2.SecurityGroup(stack, "Group", vpc=cluster.network.vpc)
    group.connections.allow_from(cluster.node_groups["train"], ec2.Port.tcp(443))


@pytest.mark.parametrize("file", ["eks-minimal", "eks-own-cluster"])
def test_a_role_of_the_app_administers_a_cluster_of_kubernetes(file: str) -> None:
    stack = cdk.Stack(app(), "S", env=ENV)
    cluster = clusterfile.load(ROOT / "examples" / f"{file}.yaml")
    plane = cast(KubernetesCluster, UltraCluster(stack, "Cluster", cluster=cluster).orchestrator).control_plane
    role = iam.Role(stack, "Team", assumed_by=iam.AccountRootPrincipal())
    assert plane.grants.admin(role).success
    assert plane.metrics.metric_executing_seats().namespace == "AWS/EKS"
    entries = [each["Properties"] for each in resources_of(stack).values() if each["Type"] == "AWS::EKS::AccessEntry"]
    (name,) = [each["ClusterName"] for each in entries if each["PrincipalArn"] == stack.resolve(role.role_arn)]
    assert name == stack.resolve(plane.cluster_name)
