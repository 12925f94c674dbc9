"""Many node groups: CloudFormation takes 500 resources and 1,000,000 bytes in a template, and a role 10,240 characters.

See: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html and
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html (read 2026-11-23)
"""

import json
from collections import Counter
from typing import Any

import aws_cdk as cdk
import pytest

from cdk_rehearsal import guard
from cdk_rehearsal.registry import quota_problems
from support import ROOT
from support.templates import synth, templates
from ultracluster import clusterfile
from ultracluster.catalogue.schedulers import hyperpod
from ultracluster.clusterfile import ClusterFile
from ultracluster.rules import Refusal
from ultracluster.stacks import UltraCluster

_GROUPS = 60
EXAMPLE_FILES = ROOT / "examples"


def many(orchestrator: str, groups: int = _GROUPS, **keys: Any) -> ClusterFile:
    """Return a cluster with this many groups of two nodes."""
    nodes = {
        f"group-{number:03d}": {"type": "p5.48xlarge", "count": 2, "capacity": "on-demand"} for number in range(groups)
    }
    data = {"name": "wide", "region": "us-east-2", "zone": "use2-az1", "orchestrator": orchestrator, "nodes": nodes}
    return clusterfile.build(**{**data, **keys})


@pytest.mark.parametrize("name", ["eks-capacity-block", "eks-mixed", "slurm-capacity-block", "slurm-mixed"])
def test_no_template_is_larger_than_estimated(name: str) -> None:
    cluster = clusterfile.load(EXAMPLE_FILES / f"{name}.yaml")
    template = templates(cluster)[f"{cluster.name}-Compute"]
    (stack,) = cluster.compute_stacks
    assert len(json.dumps(template, separators=(",", ":"))) <= stack.bytes
    assert len(template["Resources"]) <= stack.resources


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_cloudformation_takes_the_templates_of_many_groups(orchestrator: str) -> None:
    cluster = many(orchestrator)
    files = {file.name.partition(".")[0]: file for file in synth(cluster).directory.glob("*.template.json")}
    parsed = {name: json.loads(file.read_text()) for name, file in files.items()}
    assert max(file.stat().st_size for file in files.values()) <= 1_000_000
    assert max(len(template["Resources"]) for template in parsed.values()) <= 500
    compute = {name: template for name, template in parsed.items() if name.startswith("wide-Compute")}
    assert len(compute) == len(cluster.compute_stacks) == 2
    for stack in cluster.compute_stacks:
        name = "wide-Compute" if stack.number == 1 else f"wide-Compute-{stack.number}"
        assert files[name].stat().st_size <= stack.bytes
        assert len(compute[name]["Resources"]) <= stack.resources
    groups = Counter(
        resource["Properties"].get("Name") or resource["Properties"].get("NodegroupName")
        for template in compute.values()
        for resource in template["Resources"].values()
        if resource["Type"] in ("AWS::PCS::ComputeNodeGroup", "AWS::EKS::Nodegroup")
    )
    assert {name for name in groups if name and name.startswith("group-")} == {g.name for g in cluster.node_groups}
    assert set(groups.values()) == {1}


def test_equal_groups_share_a_boot_script_so_that_the_policies_of_their_role_do_not_grow() -> None:
    def policies(groups: int) -> int:
        compute = templates(many("slurm", groups))["wide-Compute"]
        documents = [
            resource["Properties"]["PolicyDocument"]
            for resource in compute["Resources"].values()
            if resource["Type"] == "AWS::IAM::Policy"
        ]
        return len(json.dumps(documents))

    assert policies(2) == policies(20)


def test_the_roles_of_hyperpod_have_room_for_all_its_groups() -> None:
    # All groups are parts of one resource, with one role for their nodes.
    assembly = templates(many("hyperpod-slurm", hyperpod.MOST_GROUPS - 2))
    resources = {id: each for template in assembly.values() for id, each in template["Resources"].items()}
    sizes: Counter[str] = Counter()
    for resource in resources.values():
        if resource["Type"] == "AWS::IAM::Policy":
            for role in resource["Properties"]["Roles"]:
                sizes[str(role)] += len(json.dumps(resource["Properties"]["PolicyDocument"]))
    # The execution role has one name in its stack and another in that of the nodes: half of the quota each.
    assert max(sizes.values()) < 5_120
    assert guard.refusals(assembly) == []
    assert not [problem for each in assembly.values() for problem in quota_problems(each, json.dumps(each))]


def test_a_further_group_moves_no_other_one() -> None:
    before, after = many("slurm", 80), many("slurm", 81)
    stack_of = {group: stack.number for stack in before.compute_stacks for group in stack.groups}
    assert max(stack_of.values()) == 2
    assert stack_of.items() <= {group: stack.number for stack in after.compute_stacks for group in stack.groups}.items()


def test_a_pinned_group_stays_where_it_is() -> None:
    groups = {f"group-{number:03d}": number for number in range(80)}
    pinned = {
        name: {"type": "p5.48xlarge", "count": 2, "capacity": "on-demand", "stack": 1 + number // 45}
        for name, number in groups.items()
    }
    before = many("slurm", nodes=pinned)
    assert {stack.number: len(stack.groups) for stack in before.compute_stacks} == {1: 45, 2: 35}
    del pinned["group-010"]
    after = many("slurm", nodes=pinned)
    assert {stack.number: len(stack.groups) for stack in after.compute_stacks} == {1: 44, 2: 35}


def test_one_construct_refuses_what_one_stack_does_not_hold() -> None:
    cluster = many("slurm")
    stack = cdk.Stack(cdk.App(), "One", env=cdk.Environment(account="123456789012", region="us-east-2"))
    with pytest.raises(Refusal, match=r"cluster has 60 node groups, which are 2 stacks.*use ClusterStacks"):
        UltraCluster(stack, "Cluster", cluster=cluster)


@pytest.mark.parametrize("orchestrator", ["slurm", "kubernetes"])
def test_no_policy_of_a_role_has_the_name_of_one_in_another_stack(orchestrator: str) -> None:
    # IAM overwrites an inline policy of the same name, and the deletion of one stack would delete it for all.
    names = Counter(
        json.dumps([resource["Properties"]["PolicyName"], role], sort_keys=True)
        for stack, template in templates(many(orchestrator)).items()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::IAM::Policy"
        for role in resource["Properties"]["Roles"]
    )
    assert set(names.values()) == {1}
