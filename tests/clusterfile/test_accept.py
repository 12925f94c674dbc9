"""`accept`: errors that rest on a dated fact go through to the template, others do not."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.clusterfile_data import GOOD, bent, problem, problems
from support.templates import of_type, synth, warning_ids
from ultracluster.cli import app
from ultracluster.clusterfile import loads, rules, warnings

KUBERNETES = bent("slurm", "kubernetes")


def accepting(rule: str, text: str) -> str:
    return f"{text}accept: {{{rule}: it is sold since 2026-12}}\n"


@pytest.mark.parametrize(
    ("rule", "text", "type", "value"),
    [
        ("slurm-version", f"{GOOD}slurm: {{version: 26.11}}\n", "AWS::PCS::Cluster", '"Version": "26.11"'),
        ("slurm-size", f"{GOOD}slurm: {{size: XLARGE}}\n", "AWS::PCS::Cluster", '"Size": "XLARGE"'),
        (
            "pcs-region",
            GOOD.replace("us-east-2", "us-west-1").replace("use2-az1", "usw1-az1"),
            "AWS::PCS::Cluster",
            '"Version"',
        ),
        (
            "lustre-tier",
            bent("throughput: 40 GB/s", "tier: 2000 MB/s/TiB, capacity: 48000 GiB"),
            "AWS::FSx::FileSystem",
            '"PerUnitStorageThroughput": 2000',
        ),
        (
            "lustre-version",
            bent("throughput: 40 GB/s", 'throughput: 40 GB/s, lustre-version: "2.17"'),
            "AWS::FSx::FileSystem",
            '"FileSystemTypeVersion": "2.17"',
        ),
        (
            "kubernetes-version",
            f'{KUBERNETES}kubernetes: {{version: "1.38"}}\n',
            "AWS::EKS::Cluster",
            '"Version": "1.38"',
        ),
        (
            "kubernetes-scaling-tier",
            f"{KUBERNETES}kubernetes: {{scaling-tier: tier-16xl}}\n",
            "AWS::EKS::Cluster",
            '"Tier": "tier-16xl"',
        ),
    ],
)
def test_an_accepted_value_is_deployed(rule: str, text: str, type: str, value: str) -> None:
    assert len(problems(text)) == 1
    cluster = loads(accepting(rule, text), "c.yaml")
    assert [problem.rule for problem in cluster.accepted] == [rule]
    assert {warning.rule: warning.accepted for warning in warnings(cluster)}[rule] == "it is sold since 2026-12"
    stacks = synth(cluster).stacks
    assert value in json.dumps([of_type(stack.template, type) for stack in stacks if "Resources" in stack.template])
    assert f"ultracluster:{rule}" not in warning_ids(cluster)


def test_rejects_the_acceptance_of_an_error_that_would_lose_data_or_cannot_be_deployed() -> None:
    text = bent("count: 64", "count: 9999")
    message = problems(accepting("network-addresses", text))[-1]
    assert "accept.network-addresses: cannot be accepted: it would lose data, or cannot be deployed" in message


def test_rejects_an_unknown_rule_with_the_nearest() -> None:
    message = problem("name: llama", "name: llama\naccept: {slurm-versoin: known}")
    assert message == "c.yaml:2:10 accept.slurm-versoin: is not the id of a rule; did you mean slurm-version?"


def test_rejects_an_acceptance_without_a_reason() -> None:
    assert "needs the reason" in problem("name: llama", "name: llama\naccept: {slurm-version: ''}")


def test_every_rule_has_an_id_in_kebab_case_and_a_reason_of_one_sentence() -> None:
    for rule in rules():
        assert rule.id == rule.id.lower().strip("-").replace("_", "-")
        assert rule.reason.endswith(".")
        assert "\n" not in rule.reason
    assert len(rules()) > 100
    assert all(rule.acceptable for rule in rules() if rule.kind == "warning")


def test_check_prints_what_is_accepted_and_the_age_of_the_facts(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(accepting("slurm-version", f"{GOOD}slurm: {{version: 26.11}}\n"))
    result = CliRunner().invoke(app, ["check", str(file)])
    assert "[slurm-version: it is sold since 2026-12]" in result.output
    assert re.search(r"facts: the oldest were read \d+ days ago \(lustre 2026-10-09, ", result.output)
    facts = json.loads(CliRunner().invoke(app, ["check", str(file), "--json"]).output)["facts"]
    assert facts.keys() == {"ec2", "pcs", "lustre", "monitoring"}


def test_the_command_lists_the_rules() -> None:
    listed = CliRunner().invoke(app, ["rules"]).output
    assert "slurm-version (cluster file, error, `accept` allows it): " in listed
    data = json.loads(CliRunner().invoke(app, ["rules", "--json"]).output)
    assert [rule["id"] for rule in data if rule["of"] == "cluster file"] == [rule.id for rule in rules()]
