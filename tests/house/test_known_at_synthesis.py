"""Values that decide what is created are refused as tokens, with the name of the argument."""

import inspect
from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from support.contracts import ACCOUNT, REGION, World, exported, rows
from support.contracts.eks import control_plane, managed_nodes
from support.contracts.slurm import controller, slurm_nodes
from support.contracts.storage import association, lustre
from ultracluster import compute, eks, network, slurm, storage
from ultracluster.planning.home import size_openzfs
from ultracluster.rules import Refusal

TOKEN = cdk.Token.as_string({"Ref": "Parameter"})
RANGES: dict[str, Any] = {"cidr": "10.0.0.0/16", "training_cidr": "10.0.128.0/18", "public_cidr": "10.0.0.0/28"}
CREATE: dict[str, Any] = {
    "association.path": lambda scope, id, world: association(scope, id, world, path=TOKEN),
    "cluster.name": lambda scope, id, world: controller(scope, id, world, name=TOKEN),
    "cluster.slurm_version": lambda scope, id, world: controller(scope, id, world, slurm_version=TOKEN),
    "control_plane.version": lambda scope, id, world: control_plane(scope, id, world, version=TOKEN),
    "control_plane.scaling_tier": lambda scope, id, world: control_plane(scope, id, world, scaling_tier=TOKEN),
    "express.zone": lambda scope, id, world: storage.ExpressBucket(scope, id, zone=TOKEN),
    "express.name": lambda scope, id, world: storage.ExpressBucket(scope, id, zone="use2-az1", name=TOKEN),
    "lustre.spec": lambda scope, id, world: lustre(scope, id, world, spec=TOKEN),
    "managed.os": lambda scope, id, world: managed_nodes(scope, id, world, os=TOKEN),
    "managed.labels": lambda scope, id, world: managed_nodes(scope, id, world, labels={TOKEN: "gpu"}),
    "network.zone": lambda scope, id, world: network.ClusterNetwork(scope, id, zone=TOKEN, **RANGES),
    "network.cidr": lambda scope, id, world: network.ClusterNetwork(
        scope, id, zone="use2-az1", **{**RANGES, "cidr": TOKEN}
    ),
    "nodes.name": lambda scope, id, world: slurm_nodes(scope, id, world, name=TOKEN),
    "queue.name": lambda scope, id, world: slurm.PcsQueue(
        scope, id, cluster=controller(scope, "Slurm", world), name=TOKEN, node_groups=[]
    ),
    "reservation.instance_type": lambda scope, id, world: compute.CapacityReservation(
        scope, id, instance_type=TOKEN, zone="use2-az1", instances=2
    ),
    "self_managed.cluster_name": lambda scope, id, world: eks.EksSelfManagedNodeGroup(
        scope,
        id,
        cluster_name=TOKEN,
        name="train",
        template=compute.NodeGroupTemplate(
            scope, "Template", instance_type="p5.48xlarge", security_groups=world.security_group
        ),
        subnet=world.subnet,
        count=1,
    ),
}


@pytest.mark.parametrize("case", CREATE)
def test_names_the_argument(case: str) -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    with pytest.raises(Refusal) as refused:
        CREATE[case](stack, "Subject", World(stack))
    argument = case.partition(".")[2]
    (message,) = [message for message in refused.value.messages if message.rule.id == "argument-token"]
    assert refused.value.path == "Stack/Subject"
    assert argument in message
    assert "must be known at synthesis" in message
    assert "Token[" not in str(refused.value)


# Lists that are lists in the template as well.
_LISTS = ("public_access_cidrs", "route_table_ids")


def lists() -> Iterator[tuple[str, str]]:
    """Constructs, each with an argument whose length decides what is created."""
    for name, construct in sorted(exported().items()):
        for argument, parameter in inspect.signature(construct.__init__).parameters.items():
            hint = str(parameter.annotation)
            if "Sequence[" in hint and "Callable" not in hint and argument not in _LISTS:
                yield name, argument


def list_token(stack: cdk.Stack) -> list[str]:
    return cdk.CfnParameter(stack, "Values", type="CommaDelimitedList").value_as_list


@pytest.mark.parametrize(("name", "argument"), [*lists()])
def test_list_tokens_are_refused(name: str, argument: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    construct: Any = exported()[name]
    make, values = construct.__init__, list_token(stack)

    def changed(self: Any, scope: Any, id: str, **given: Any) -> None:
        make(self, scope, id, **given | ({argument: values} if id == "Subject" else {}))

    monkeypatch.setattr(construct, "__init__", changed)
    with pytest.raises(Refusal) as refused:
        rows()[name].make(stack, "Subject", World(stack))
    assert f"{argument} must be a list whose length is known at synthesis, got a list token" in str(refused.value)
    assert "cdk.Fn.select(0, ...)" in str(refused.value)


def test_a_list_token_is_a_list_of_the_template() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    control_plane(stack, "Subject", World(stack), public_access_cidrs=list_token(stack))
    (cluster,) = Template.from_stack(stack).find_resources("AWS::EKS::Cluster").values()
    assert cluster["Properties"]["ResourcesVpcConfig"]["PublicAccessCidrs"] == {"Ref": "Values"}


def test_route_tables_of_homes_may_be_a_list_token() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    world = World(stack)
    storage.OpenZfsHome(
        stack,
        "Subject",
        vpc=world.vpc,
        subnet=world.subnet,
        standby_subnet=ec2.Subnet.from_subnet_attributes(
            stack, "Standby", subnet_id="subnet-0fedcba9876543210", availability_zone="us-east-2b"
        ),
        size=size_openzfs(deployment_type="MULTI_AZ_1"),
        client_ranges="10.0.0.0/16",
        route_table_ids=list_token(stack),
    )
    (home,) = Template.from_stack(stack).find_resources("AWS::FSx::FileSystem").values()
    assert home["Properties"]["OpenZFSConfiguration"]["RouteTableIds"] == {"Ref": "Values"}


def test_tokens_in_messages_are_named_as_such() -> None:
    stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account=ACCOUNT, region=REGION))
    text = cdk.CfnParameter(stack, "Text").value_as_string
    with pytest.raises(Refusal) as refused:
        association(stack, "Subject", World(stack), import_events=cdk.Fn.split(",", text, 2))
    assert "import_events are any of NEW, CHANGED, DELETED, got <token>, <token>" in str(refused.value)
    first = cdk.Fn.split(",", text)[0]
    with pytest.raises(Refusal, match="name must be one value, got a list token"):
        controller(stack, "Controller", World(stack), name=first)
