"""Permissions and lifecycle actions of the user's scripts on Slurm nodes."""

import json
from collections.abc import Sequence
from typing import Any

from cdk_rehearsal import guard
from support import ROOT
from support.templates import templates
from ultracluster import clusterfile

SLOT = "arn:aws:ssm:us-east-2:123456789012:parameter/ultracluster/llama/failed-scripts/{}/{}"
FILE = ROOT / "examples" / "slurm-scripts.yaml"


def statements(
    stacks: dict[str, dict[str, Any]], action: str, types: Sequence[str] = ("AWS::IAM::Policy",)
) -> list[dict[str, Any]]:
    policies = [
        resource["Properties"]
        for stack in stacks.values()
        for resource in stack["Resources"].values()
        if resource["Type"] in types
    ]
    entries = [entry for policy in policies for entry in policy["PolicyDocument"]["Statement"]]
    return [entry for entry in entries if action in entry["Action"]]


def scripts(stacks: dict[str, dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Lifecycle actions by node group and name."""
    return {
        (resource["Properties"]["Name"], script["Name"]): script
        for stack in stacks.values()
        for resource in stack["Resources"].values()
        if resource["Type"] == "AWS::PCS::ComputeNodeGroup"
        for script in resource["Properties"]["NodeLifecycleActions"]["Stages"]["NodeBootstrapped"]
    }


def test_nodes_with_such_scripts_may_write_their_slots_and_read_the_script() -> None:
    stacks = templates(clusterfile.load(FILE))
    written = statements(stacks, "ssm:PutParameter")
    # The script of the login nodes has the default, TERMINATE, as well.
    assert [entry["Resource"] for entry in written] == [
        [SLOT.format(nodes, slot) for slot in (1, 2, 3)] for nodes in ("compute", "login")
    ]
    assert {tuple(entry["Action"]) for entry in written} == {("ssm:GetParameter", "ssm:PutParameter")}
    reads = json.dumps([entry["Resource"] for entry in statements(stacks, "s3:GetObject")])
    assert "example-security-tools/edr/install.sh" in reads
    limited = scripts(stacks)["train", "EDR agent"]
    assert (limited["OnError"], limited["ExecutionPolicy"]) == ("CONTINUE", "EVERY_BOOT"), "it terminates itself"
    assert "edr/install.sh" not in json.dumps(limited["ScriptSource"])
    assert scripts(stacks)["train", "ultracluster-boot"]["OnError"] == "CONTINUE"


def test_nodes_may_terminate_themselves_and_no_other_node() -> None:
    entries = statements(templates(clusterfile.load(FILE)), "ec2:TerminateInstances")
    caller = {"ec2:SourceInstanceARN": "arn:aws:ec2:us-east-2:123456789012:instance/${ec2:InstanceID}"}
    assert [entry["Condition"] for entry in entries] == [{"ArnEquals": caller}] * 2


def test_nodes_without_health_checks_are_not_replaced_without_limit_either() -> None:
    text = FILE.read_text().replace("\nslurm:\n", "\nslurm:\n  health: false\n").replace("scripts/company", "x/company")
    text = text.replace("file: x/company-ca.sh", "url: https://tools.example.com/ca.sh\n        sha256: " + "0" * 64)
    cluster = clusterfile.loads(text, "c.yaml")
    assert {script["OnError"] for script in scripts(templates(cluster)).values()} == {"CONTINUE"}


def test_clusters_without_such_scripts_may_write_no_parameter() -> None:
    text = FILE.read_text().split("    scripts:\n")[0]
    assert statements(templates(clusterfile.loads(text, "c.yaml")), "ssm:PutParameter") == []


def test_the_inline_policies_of_the_nodes_do_not_grow_with_the_scripts() -> None:
    text = FILE.read_text().split("    scripts:\n")[0]
    row = "  group{0}:\n    type: p5en.48xlarge\n    count: 2\n    scripts:\n"
    script = (
        "      - {{name: s{1}, url: 's3://tools/{0:048}/{1:048}.sh', sha256: '{0:032}{1:032}', on-error: CONTINUE}}\n"
    )
    head, _, rest = text.partition("nodes:\n")
    rows = "".join(
        row.format(group) + "".join(script.format(group, number) for number in range(4)) for group in range(30)
    )
    stacks = templates(clusterfile.loads(f"{head}nodes:\n{rows}{rest}", "c.yaml"))
    assert not guard.refusals(stacks)
    inline = json.dumps(statements(stacks, "s3:GetObject"))
    both = json.dumps(statements(stacks, "s3:GetObject", ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")))
    objects = [f"{group:048}/{number:048}.sh" for group in range(30) for number in range(4)]
    assert all(both.count(name) == 1 for name in objects)
    assert 0 < sum(name in inline for name in objects) < 20
