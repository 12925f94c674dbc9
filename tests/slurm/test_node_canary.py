"""The canary of a node group: one node that leads, and what the others wait for."""

import json
import re
from typing import Any, cast

import pytest

from support.templates import templates
from ultracluster import clusterfile
from ultracluster.clusterfile import ClusterFileError

FILE = """\
name: llama
region: us-east-2
zone: use2-az1
orchestrator: slurm
image: ami-0123456789abcdef0
nodes:
  train: {type: p5en.48xlarge, count: 16, capacity: cr-0123456789abcdef0, canary: true}
storage: {}
observability: {profile: none}
"""


def resources(text: str = FILE) -> dict[str, dict[str, Any]]:
    return cast(dict[str, dict[str, Any]], templates(clusterfile.loads(text, "c.yaml"))["llama-Compute"]["Resources"])


def of(template: dict[str, dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {id: resource for id, resource in template.items() if resource["Type"] == f"AWS::{kind}"}


def node_groups(template: dict[str, dict[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    groups = of(template, "PCS::ComputeNodeGroup")
    return {group["Properties"]["Name"]: (id, group) for id, group in groups.items()}


@pytest.fixture(scope="module")
def before() -> dict[str, dict[str, Any]]:
    return resources()


def test_other_nodes_of_the_group_wait_for_the_canary(before: dict[str, dict[str, Any]]) -> None:
    groups = node_groups(before)
    counts = {name: group["Properties"]["ScalingConfiguration"] for name, (_, group) in groups.items()}
    assert counts["train-canary"] == {"MinInstanceCount": 1, "MaxInstanceCount": 1}
    assert counts["train"] == {"MinInstanceCount": 15, "MaxInstanceCount": 15}
    ((condition, wait),) = of(before, "CloudFormation::WaitCondition").items()
    assert condition in groups["train"][1]["DependsOn"]
    assert groups["train-canary"][0] in wait["DependsOn"]
    assert not {condition, groups["train"][0]} & {*groups["train-canary"][1]["DependsOn"]}
    assert condition not in groups["login"][1]["DependsOn"]
    assert wait["Properties"]["Timeout"] == "43200"


def test_the_canary_reports_to_the_condition_of_its_deployment(before: dict[str, dict[str, Any]]) -> None:
    groups = node_groups(before)
    name = "/ultracluster/llama/canary/train-canary"
    ((parameter, resource),) = (
        (id, it) for id, it in of(before, "SSM::Parameter").items() if it["Properties"]["Name"] == name
    )
    (wait,) = of(before, "CloudFormation::WaitCondition").values()
    prefix, handle = resource["Properties"]["Value"]["Fn::Join"][1]
    assert handle == wait["Properties"]["Handle"]
    assert parameter in groups["train-canary"][1]["DependsOn"], "the node could read it before it has the new URL"
    canary, train = (
        groups[group][1]["Properties"]["NodeLifecycleActions"]["Stages"] for group in ("train-canary", "train")
    )
    (script,) = canary["NodeReady"]
    assert script["Arguments"] == [name, "us-east-2", prefix.strip()]
    assert "NodeReady" not in train
    assert [it["ScriptSource"] for it in canary["NodeBootstrapped"]] == [
        it["ScriptSource"] for it in train["NodeBootstrapped"]
    ]
    assert any(
        "ssm:GetParameter" in statement["Action"] and parameter in str(statement["Resource"])
        for policy in of(before, "IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    )


def script_keys(value: object) -> set[str]:
    return set(re.findall(r"[0-9a-f]{64}\.sh", str(value)))


def test_others_can_read_the_scripts_of_before_until_the_canary_is_well(before: dict[str, dict[str, Any]]) -> None:
    """PCS starts nodes of the group with its old lifecycle actions until then, 12 hours at most."""
    (condition,) = of(before, "CloudFormation::WaitCondition")
    for name, waits in (("train", True), ("train-canary", False), ("login", False)):
        group = node_groups(before)[name][1]
        keys = script_keys(group["Properties"]["NodeLifecycleActions"])
        policies = [policy for id, policy in of(before, "IAM::Policy").items() if id in group["DependsOn"]]
        (read,) = [policy for policy in policies if keys and keys <= script_keys(policy)]
        assert (condition in read.get("DependsOn", [])) == waits, f"{name}: its nodes lose their scripts, or wait"


def test_no_template_with_a_canary_is_larger_than_estimated(before: dict[str, dict[str, Any]]) -> None:
    (stack,) = clusterfile.loads(FILE, "c.yaml").compute_stacks
    (alone,) = clusterfile.loads(FILE.replace(", canary: true", ""), "c.yaml").compute_stacks
    without = resources(FILE.replace(", canary: true", ""))
    assert len(before) - len(without) <= stack.resources - alone.resources
    sizes = [len(json.dumps(template, separators=(",", ":"))) for template in (before, without)]
    assert sizes[0] - sizes[1] <= stack.bytes - alone.bytes


def test_both_are_nodes_of_one_queue(before: dict[str, dict[str, Any]]) -> None:
    (queue,) = of(before, "PCS::Queue").values()
    assert len(queue["Properties"]["ComputeNodeGroupConfigurations"]) == 2


def test_a_new_image_is_a_new_condition_and_more_nodes_are_not(before: dict[str, dict[str, Any]]) -> None:
    image = resources(FILE.replace("ami-0123456789abcdef0", "ami-0fedcba9876543210"))
    kinds = ("CloudFormation::WaitCondition", "CloudFormation::WaitConditionHandle")
    for kind in kinds:
        assert len(of(image, kind)) == 1
        assert of(image, kind).keys().isdisjoint(of(before, kind))
    assert of(image, "SSM::Parameter").keys() == of(before, "SSM::Parameter").keys()
    more = resources(FILE.replace("count: 16", "count: 24"))
    canary = node_groups(before)["train-canary"]
    assert node_groups(more)["train-canary"] == canary
    for kind in kinds:
        assert of(more, kind).keys() == of(before, kind).keys()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("canary: true", "canary: true, min: 0", "nodes.train.min: the canary is always up"),
        ("count: 16", "count: 1", "a group of one node has no canary"),
        ("image: ami-0123456789abcdef0\n", "", "the image changes without an edit"),
        ("ami-0123456789abcdef0", "{parameter: /team/images/pcs}", "the image changes without an edit"),
        ("cr-0123456789abcdef0", "spot", "needs the capacity of a reservation, got spot"),
        (
            "  train:",
            "  a-name-of-20-letters:",
            "a-name-of-20-letters-canary, and a node group has a name of at most 25",
        ),
        ("orchestrator: slurm", "orchestrator: kubernetes", "EKS replaces one node first"),
        ("orchestrator: slurm", "orchestrator: hyperpod-slurm", "update-cluster-software"),
        ("nodes:\n", "nodes:\n  train-canary: {type: c7i.2xlarge, count: 1}\n", "train-canary"),
        (
            "{type: p5en.48xlarge, count: 16, capacity: cr-0123456789abcdef0,",
            "{type: p5.48xlarge, count: 16, capacity: {reservation: cr-0123456789abcdef0, kind: capacity-block},",
            "needs the capacity of a reservation",
        ),
    ],
)
def test_a_canary_that_could_not_be_first_is_refused(old: str, new: str, message: str) -> None:
    assert old in FILE
    with pytest.raises(ClusterFileError, match=re.escape(message)):
        clusterfile.loads(FILE.replace(old, new), "c.yaml")


def test_a_reservation_holds_the_canary_too() -> None:
    described = "{reservation: cr-0123456789abcdef0, kind: odcr, instances: SIZE}"
    text = FILE.replace("capacity: cr-0123456789abcdef0", f"capacity: {described}")
    clusterfile.loads(text.replace("SIZE", "16"), "c.yaml")
    with pytest.raises(ClusterFileError, match="16 nodes together, more than the 15"):
        clusterfile.loads(text.replace("SIZE", "15"), "c.yaml")


def test_jobs_have_all_nodes_of_the_group() -> None:
    from ultracluster.workloads import slurm_jobs

    jobs = slurm_jobs(clusterfile.loads(FILE, "c.yaml"))
    assert any("--nodes=16" in job.text for job in jobs)
