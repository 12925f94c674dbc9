"""Rules between security groups beside those of the CDK: in which stack, once only, and none on an immutable group."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from ultracluster import clusterfile, compute, network, stacks, storage

KINDS = ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
FILE = """
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes: {train: {type: p5en.48xlarge, count: 2, capacity: cr-0123456789abcdef0}}
"""


def instance(stack: cdk.Stack, vpc: ec2.IVpc, group: ec2.ISecurityGroup | None = None) -> ec2.Instance:
    return ec2.Instance(
        stack,
        "Instance",
        vpc=vpc,
        instance_type=ec2.InstanceType("m7i.large"),
        machine_image=ec2.MachineImage.latest_amazon_linux2023(),
        security_group=group,
    )


def rules(stack: cdk.Stack) -> list[str]:
    """Return the rules of a stack as EC2 compares them: without description."""
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return [
        json.dumps([entry["Type"], {**entry["Properties"], "Description": ""}], sort_keys=True)
        for entry in resources.values()
        if entry["Type"] in KINDS
    ]


def mount_target(stack: cdk.Stack, vpc: ec2.IVpc) -> tuple[storage.EfsHome, ec2.Instance]:
    return storage.EfsHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets), instance(stack, vpc)


def cdk_first(stack: cdk.Stack, vpc: ec2.IVpc) -> None:
    home, client = mount_target(stack, vpc)
    client.connections.allow_to_default_port(home)
    home.allow_clients(client)


def cdk_last(stack: cdk.Stack, vpc: ec2.IVpc) -> None:
    home, client = mount_target(stack, vpc)
    home.allow_clients(client)
    home.connections.allow_default_port_from(client)
    client.connections.allow_to_default_port(home)


def within(stack: cdk.Stack, vpc: ec2.IVpc) -> None:
    nodes = network.EfaSecurityGroup(stack, "Nodes", vpc=vpc)
    nodes.connections.allow_internally(ec2.Port.all_traffic())


def two_scopes(stack: cdk.Stack, vpc: ec2.IVpc) -> None:
    home, client = mount_target(stack, vpc)
    home.allow_clients(client)
    home.allow_clients(client, scope=stack)


@pytest.mark.parametrize("create", [cdk_first, cdk_last, within, two_scopes])
def test_a_rule_is_created_once(stack: cdk.Stack, create: Callable[[cdk.Stack, ec2.IVpc], None]) -> None:
    create(stack, ec2.Vpc(stack, "Vpc", max_azs=1))
    created = rules(stack)
    assert len(created) == len(set(created)) == 2


def test_the_cdk_creates_one_rule_of_the_same_port_in_another_stack() -> None:
    app = cdk.App()
    below, above = cdk.Stack(app, "Below"), cdk.Stack(app, "Above")
    vpc = ec2.Vpc(below, "Vpc", max_azs=1)
    home, client = storage.EfsHome(below, "Home", vpc=vpc, subnets=vpc.private_subnets), instance(above, vpc)
    home.allow_clients(client)
    client.connections.allow_to_default_port(home)
    assert rules(below) == []
    assert len(rules(above)) == 2


def test_a_group_that_is_imported_as_immutable_gets_no_rule(stack: cdk.Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    lustre = storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=vpc.private_subnets[0], spec="1 GB/s")
    home = storage.EfsHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets)
    ids = {"Theirs": "sg-0123456789abcdef1", "Ours": "sg-0123456789abcdef2"}
    for name, id in ids.items():
        group = ec2.SecurityGroup.from_security_group_id(stack, name, id, mutable=name == "Ours")
        lustre.allow_clients(group)
        home.allow_clients(group)
    owners = [json.loads(rule)[1]["GroupId"] for rule in rules(stack)]
    assert owners.count(ids["Theirs"]) == 0
    assert owners.count(ids["Ours"]) == 3
    peers = [json.loads(rule)[1].get("SourceSecurityGroupId") for rule in rules(stack)]
    assert peers.count(ids["Theirs"]) == 2


# In a process of its own: in that of the tests, the CDK does not check types.
IMPORTED = """
import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from ultracluster import storage
stack = cdk.Stack(cdk.App(), "Stack")
vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
home = storage.EfsHome(stack, "Home", vpc=vpc, subnets=vpc.private_subnets)
home.allow_clients(ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0"))
"""


def test_the_cdk_takes_an_imported_group_as_a_scope() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def mounted(stack: cdk.Stack, vpc: ec2.IVpc, nodes: ec2.ISecurityGroup, _: cdk.Stack) -> None:
    subnet = vpc.private_subnets[0]
    lustre = storage.LustreFileSystem(stack, "Lustre", vpc=vpc, subnet=subnet, spec="1 GB/s")
    compute.AutoScalingNodeGroup(
        stack, "Nodes", instance_type="p5en.48xlarge", count=1, subnet=subnet, security_groups=[nodes], mounts=lustre
    )


def handed_in(stack: cdk.Stack, vpc: ec2.IVpc, nodes: ec2.ISecurityGroup) -> network.Network:
    subnet = vpc.private_subnets[0]
    return network.Network(vpc=vpc, training_subnet=subnet, services_subnet=subnet, nodes=nodes)


def of_the_file(stack: cdk.Stack, vpc: ec2.IVpc, nodes: ec2.ISecurityGroup, _: cdk.Stack) -> None:
    text = f"{FILE}storage: {{lustre: {{throughput: 2 GB/s}}, home: {{}}}}\n"
    cluster = clusterfile.loads(text, "llama.yaml")
    stacks.UltraCluster(stack, "Llama", cluster=cluster, network=handed_in(stack, vpc, nodes))


@pytest.mark.parametrize("create", [mounted, of_the_file])
def test_a_group_in_a_stack_of_its_own_closes_no_cycle(
    create: Callable[[cdk.Stack, ec2.IVpc, ec2.ISecurityGroup, cdk.Stack], None],
) -> None:
    app = cdk.App(tree_metadata=False, analytics_reporting=False)
    env = cdk.Environment(account="111122223333", region="us-east-2")
    net, groups, data, train = (cdk.Stack(app, id, env=env) for id in ("Net", "Groups", "Data", "Train"))
    vpc = ec2.Vpc(net, "Vpc", max_azs=1)
    create(train, vpc, network.EfaSecurityGroup(groups, "Nodes", vpc=vpc), data)
    app.synth()
    assert len(rules(groups)) == 2, "only those of the group itself"
    assert len(rules(train)) >= 4


def test_nodes_of_several_stacks_keep_their_rules_when_one_stack_goes() -> None:
    """The rules of a group in a stack of its own are there, not with those nodes that came first."""
    app = cdk.App(tree_metadata=False, analytics_reporting=False)
    env = cdk.Environment(account="111122223333", region="us-east-2")
    net, groups, data, train = (cdk.Stack(app, id, env=env) for id in ("Net", "Groups", "Data", "Train"))
    vpc = ec2.Vpc(net, "Vpc", max_azs=1)
    nodes = network.EfaSecurityGroup(groups, "Nodes", vpc=vpc)
    subnet = vpc.private_subnets[0]
    lustre = storage.LustreFileSystem(data, "Lustre", vpc=vpc, subnet=subnet, spec="1 GB/s")
    home = storage.EfsHome(data, "Home", vpc=vpc, subnets=[subnet])
    stacks.UltraCluster(
        train,
        "Llama",
        cluster=clusterfile.loads(FILE, "llama.yaml"),
        network=handed_in(train, vpc, nodes),
        storage=storage.Storage(lustre=lustre, home=home),
    )
    app.synth()
    assert (len(rules(groups)), len(rules(train))) == (8, 0)
