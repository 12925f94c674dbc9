"""Health checks of Slurm nodes in the cluster file: mode, breaker, replacement."""

import json
from typing import Any

import pytest

from support.boot_scripts import boots
from support.clusterfile_data import GOOD, problems
from support.templates import templates
from ultracluster import clusterfile

REPLACE = f"{GOOD}slurm: {{health: {{replace: 2}}}}\n"
MORE = "  more: {type: c7i.2xlarge, count: 64}\nstorage"


def of_type(text: str, stack: str, type: str) -> list[dict[str, Any]]:
    resources = templates(clusterfile.loads(text, "c.yaml"))[f"llama-{stack}"]["Resources"].values()
    return [resource["Properties"] for resource in resources if resource["Type"] == type]


def statements(text: str, stack: str, action: str) -> list[dict[str, Any]]:
    policies = (policy["PolicyDocument"]["Statement"] for policy in of_type(text, stack, "AWS::IAM::Policy"))
    return [statement for policy in policies for statement in policy if action in json.dumps(statement["Action"])]


def test_nodes_read_the_mode_of_their_checks_from_a_parameter() -> None:
    (mode,) = (item for item in of_type(GOOD, "Cluster", "AWS::SSM::Parameter") if "health" in item["Name"])
    assert (mode["Name"], mode["Value"]) == ("/ultracluster/llama/health-mode", "enforce")
    resources = [statement["Resource"] for statement in statements(GOOD, "Cluster", "ssm:GetParameter")]
    assert "arn:aws:ssm:us-east-2:123456789012:parameter/ultracluster/llama/health-mode" in map(str, resources)
    assert not statements(GOOD, "Cluster", "ec2:TerminateInstances")


def test_no_deployment_sets_the_mode_back() -> None:
    """CloudFormation writes the value of the template with each update of the resource, so nothing of it may change."""
    modes = [
        item
        for text in (GOOD, f"{GOOD}tags: {{project: other}}\n")
        for item in of_type(text, "Cluster", "AWS::SSM::Parameter")
        if "health" in item["Name"]
    ]
    assert modes == 2 * [
        {
            "AllowedPattern": "^(enforce|observe|off)$",
            "Description": "What failed health checks of llama do: enforce, observe, off",
            "Name": "/ultracluster/llama/health-mode",
            "Type": "String",
            "Value": "enforce",
        }
    ]


def test_a_node_may_terminate_itself_only_and_send_a_notice() -> None:
    (statement,) = statements(REPLACE, "Cluster", "ec2:TerminateInstances")
    caller = "arn:aws:ec2:us-east-2:123456789012:instance/${ec2:InstanceID}"
    assert statement["Condition"] == {"ArnEquals": {"ec2:SourceInstanceARN": caller}}
    (publish,) = statements(REPLACE, "Observability", "sns:Publish")
    assert publish["Resource"] == {"Ref": "AlertsTopicCF7C81C9"}
    assert statements(REPLACE, "Observability", "kms:GenerateDataKey"), "the topic is encrypted"


def test_compute_nodes_have_the_limits_and_login_nodes_have_none() -> None:
    cluster = clusterfile.loads(REPLACE.replace("storage", MORE, 1).replace("replace: 2", "replace: 3"), "c.yaml")
    settings = {name: files.get("etc/ultracluster/replace") for name, (files, _) in boots(cluster).items()}
    assert sum(text is None for text in settings.values()) == 1, "the login nodes"
    assert all("limits train=3 more=3\n" in text for text in settings.values() if text)
    for files, _ in boots(cluster).values():
        assert "parameter /ultracluster/llama/health-mode\n" in files["etc/ultracluster/breaker"]


@pytest.mark.parametrize(
    ("slurm", "message"),
    [
        ("{health: {replace: 4}}", "slurm.health.replace: must be at most 3, got 4: health checks may not"),
        ("{health: {replace: 0}}", "slurm.health.replace: must be 1 to 1,000, got 0"),
        ("{health: {replace: all}}", "slurm.health.replace: must be a whole number"),
        ("{health: maybe}", "slurm.health: must be true, false or {replace: 2}, got 'maybe'"),
        ("{health: {replac: 2}}", "slurm.health.replac: unknown key; did you mean replace?"),
        ("{health: {replace: 2}}\nobservability: {profile: none}", "needs the topic of alerts"),
    ],
)
def test_refuses_more_than_the_breaker_allows_and_replacements_without_a_notice(slurm: str, message: str) -> None:
    (line,) = problems(f"{GOOD}slurm: {slurm}\n")
    assert message in line


def test_the_checks_stay_on_with_an_empty_section() -> None:
    for value, on in (("{}", True), ("false", False), ("{replace: 1}", True)):
        cluster = clusterfile.loads(f"{GOOD}slurm: {{health: {value}}}\n", "c.yaml")
        assert bool(cluster.slurm.health) is on or value == "{}"
        assert cluster.slurm.replacements == (1 if "replace" in value else 0)
