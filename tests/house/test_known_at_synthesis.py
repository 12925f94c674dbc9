"""Values that decide what is created are refused as tokens, with the name of the argument."""

from typing import Any

import aws_cdk as cdk
import pytest

from support.contracts import ACCOUNT, REGION, World
from support.contracts.eks import control_plane, managed_nodes
from support.contracts.slurm import controller, slurm_nodes
from support.contracts.storage import association, lustre
from ultracluster import compute, eks, network, slurm, storage
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
