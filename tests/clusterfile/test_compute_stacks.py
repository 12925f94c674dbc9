"""Stacks of node groups: which pins are refused, and with which sentence."""

from typing import Any

import pytest

from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFileError, stacks_to_write
from ultracluster.clusterfile._compute_stacks import StacksToWrite


def load(nodes: dict[str, Any], **keys: Any) -> clusterfile.ClusterFile:
    """Return a cluster with these groups, on demand."""
    data: Any = {"name": "wide", "region": "us-east-2", "zone": "use2-az1", "orchestrator": "slurm", **keys}
    group: Any = {"type": "p5.48xlarge", "count": 2, "capacity": "on-demand"}
    data["nodes"] = {name: {**group, **section} for name, section in nodes.items()}
    return clusterfile.build(**data)


def test_groups_of_one_queue_are_in_one_stack() -> None:
    groups: dict[str, Any] = {f"group-{number:03d}": {} for number in range(70)}
    queues = {"all": {"nodes": ["group-000", "group-069"]}}
    first, second = load(groups, slurm={"queues": queues}).compute_stacks
    assert {"group-000", "group-069"} <= {*first.groups}
    assert len(first.groups) + len(second.groups) == 70


@pytest.mark.parametrize(
    ("nodes", "queues", "message"),
    [
        (
            {"one": {"stack": 1}, "two": {"stack": 2}},
            {"both": {"nodes": ["one", "two"]}},
            r"nodes.two.stack: is 2, and one, with which two shares queues, has 1; write the same number",
        ),
        ({"one": {}, "two": {"stack": 3}}, {}, r"nodes.two.stack: is 3, and no node group is in stack 2; write 2"),
        (
            {f"group-{number:03d}": {"stack": 1} for number in range(90)},
            {},
            r"nodes.group-000.stack: stack 1 has 90 node groups.*CloudFormation accepts 500.*write another number",
        ),
        (
            {f"group-{number:03d}": {} for number in range(90)},
            {"all": {"nodes": [f"group-{number:03d}" for number in range(90)]}},
            r"nodes: stack 2 has 90 node groups.*its groups share queues, such as all: make queues of fewer groups",
        ),
        ({"one": {"stack": 0}}, {}, r"nodes.one.stack: must be 1 to 99, got 0"),
    ],
)
def test_what_cloudformation_would_refuse_is_an_error(
    nodes: dict[str, Any], queues: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClusterFileError, match=message):
        load(nodes, slurm={"queues": queues} if queues else {})


def test_an_elastic_group_is_in_no_stack() -> None:
    message = r"nodes.two.stack: is for node groups of EKS, and Karpenter launches the nodes of two; remove it"
    with pytest.raises(ClusterFileError, match=message):
        load({"one": {}, "two": {"stack": 2, "elastic": True}}, orchestrator="kubernetes")


def test_the_addresses_of_400_groups_are_refused_in_one_sentence() -> None:
    groups: dict[str, Any] = {f"group-{number:03d}": {} for number in range(400)}
    assert len(load(groups, orchestrator="slurm").compute_stacks) > 5
    with pytest.raises(ClusterFileError, match=r"nodes: 400 node groups, and a queue of Kueue has 64 at most"):
        load(groups, orchestrator="kubernetes")
    kai: Any = {"orchestrator": "kubernetes", "kubernetes": {"scheduler": "kai"}}
    with pytest.raises(ClusterFileError) as raised:
        load(groups, **kai)
    (line,) = str(raised.value).splitlines()
    assert "nodes: 800 nodes of 400 groups need 39,200 addresses" in line
    assert "the training subnet has 32,763; write fewer nodes" in line
    assert "pods: lower than 30" in line
    fewer: dict[str, Any] = {name: {"count": 1} for name in groups}
    assert len(load(fewer, **kai).compute_stacks) > 5
    most = dict(list(fewer.items())[:64])
    assert len(load(most, orchestrator="kubernetes").node_groups) == 64
    with pytest.raises(ClusterFileError, match="65 node groups"):
        load({**most, "burst": {"elastic": True}}, orchestrator="kubernetes")


def test_hyperpod_has_one_resource_for_all_groups() -> None:
    with pytest.raises(
        ClusterFileError, match=r"nodes.one.stack: .*all node groups are in the resource of the cluster"
    ):
        load({"one": {"stack": 1}}, orchestrator="hyperpod-slurm")


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_a_warning_names_the_first_of_many_groups(orchestrator: str) -> None:
    groups: dict[str, Any] = {f"group-{number:03d}": {"capacity": "spot"} for number in range(60)}
    cluster = load(groups, orchestrator=orchestrator, storage={"lustre": {"capacity": "19.2 TiB", "efa": True}})
    messages = [warning.message for warning in clusterfile.warnings(cluster)]
    assert any("group-007 and 52 more: " in message or "group-007 and 53 more: " in message for message in messages)
    assert not [message for message in messages if "group-008" in message]


def test_a_new_group_is_in_the_stack_of_its_queue() -> None:
    def write(groups: list[str], queues: dict[str, list[str]]) -> StacksToWrite:
        slurm = {"queues": {name: {"nodes": nodes} for name, nodes in queues.items()}}
        file = load({name: {} for name in groups}, slurm=slurm)
        deployed = {"train": 1, "block": 2}
        return stacks_to_write(file.name, file.node_groups, file.nodes, file.queues, deployed, deployed)

    replaced = write(["train", "next"], {"block": ["next"]})
    assert (replaced.stack, replaced.divided) == ({"next": 2}, ())
    assert write(["train", "block"], {"both": ["train", "block"]}).divided == ("train", "block")
