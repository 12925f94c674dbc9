"""Metrics, alerts and dashboards in the cluster file: what they become, and what is said of those that can't be."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from clusterfile_data import GOOD, problem
from hypothesis import given
from hypothesis import strategies as st
from test_golden import templates
from typer.testing import CliRunner

from conftest import ROOT
from ultracluster import clusterfile, metrics
from ultracluster.cli import app
from ultracluster.cli.monitoring import observability_facts, observability_sentences
from ultracluster.clusterfile.checks.observability import check_series
from ultracluster.clusterfile.sections.observability import Observability
from ultracluster.hardware import INSTANCE_TYPES
from ultracluster.hardware.grafana import MANAGED_GRAFANA_REGIONS
from ultracluster.hardware.prometheus import ACTIVE_SERIES
from ultracluster.metrics.volume import recorded_series, scraped_series
from ultracluster.patterns import collectors
from ultracluster.planning.series import SERIES_PER_NODE, series_at_most, series_limit

LAST = "storage: {lustre: {throughput: 40 GB/s}}\n"
WORKSPACE = "arn:aws:aps:us-east-2:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef"
NORTH = GOOD.replace("us-east-2", "eu-north-1").replace("use2-az1", "eun1-az1")


def with_section(section: str, text: str = GOOD) -> str:
    return f"{text}observability: {section}\n"


def wrong(section: str, text: str = GOOD) -> str:
    return problem(LAST, f"{LAST}observability: {section}\n", text).partition(" ")[2]


def ids(text: str) -> set[str]:
    return {
        warning.id.removeprefix("ultracluster:") for warning in clusterfile.warnings(clusterfile.loads(text, "c.yaml"))
    }


def stack(text: str, name: str = "llama-Observability") -> dict[str, Any]:
    found = templates(clusterfile.loads(text, "c.yaml"))[name]["Resources"]
    assert isinstance(found, dict)
    return found


def types(resources: dict[str, Any]) -> set[str]:
    return {one["Type"] for one in resources.values()}


def one(resources: dict[str, Any], type: str) -> Any:
    (found,) = [resource["Properties"] for resource in resources.values() if resource["Type"] == type]
    return found


def test_a_cluster_of_ten_lines_is_monitored_without_an_identity_center() -> None:
    found = stack(GOOD)
    assert {"AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::CloudWatch::Alarm"} <= types(found)
    assert "AWS::AutoScaling::AutoScalingGroup" in types(found)
    assert "AWS::Grafana::Workspace" not in types(found)


def test_with_the_profile_none_nothing_is_made_and_nothing_is_collected() -> None:
    text = with_section("{profile: none}")
    cluster = clusterfile.loads(text, "c.yaml")
    assert "llama-Observability" not in templates(cluster)
    assert collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"]) == []
    assert "alerts-unheard" not in ids(text)


def test_managed_grafana_takes_the_place_of_the_server() -> None:
    found = stack(with_section("{grafana: {kind: managed}}"))
    assert {"AWS::Grafana::Workspace", "Custom::GrafanaContent", "AWS::Lambda::Function"} <= types(found)
    assert "AWS::AutoScaling::AutoScalingGroup" not in types(found)


def test_a_grafana_of_yours_gets_the_content_alone() -> None:
    found = stack(with_section("{grafana: {kind: managed, workspace: g-0123456789}}"))
    assert one(found, "Custom::GrafanaContent")["WorkspaceId"] == "g-0123456789"
    assert "AWS::Grafana::Workspace" not in types(found)


def test_without_grafana_there_is_none() -> None:
    found = stack(with_section("{grafana: {kind: none}}"))
    assert not types(found) & {
        "AWS::Grafana::Workspace",
        "AWS::AutoScaling::AutoScalingGroup",
        "Custom::GrafanaContent",
    }


def test_a_region_without_grafana_falls_to_a_server_with_a_warning() -> None:
    text = with_section("{grafana: {kind: managed}}", NORTH)
    assert "eu-north-1" not in MANAGED_GRAFANA_REGIONS
    assert "grafana-region" in ids(text)
    assert "grafana-region" not in ids(with_section("{grafana: {kind: managed}}"))
    assert "grafana-region" not in ids(with_section("{}", NORTH))
    assert "AWS::AutoScaling::AutoScalingGroup" in types(stack(text))


def test_a_workspace_of_yours_gets_rules_that_no_other_cluster_has_and_no_second_alert_manager() -> None:
    text = with_section(f"{{workspace: {WORKSPACE}}}")
    found = stack(text)
    names = {r["Properties"]["Name"] for r in found.values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"}
    assert names
    assert all(name.startswith("llama-") for name in names)
    assert "AWS::APS::Workspace" not in types(found)
    assert "alert-manager" in ids(text)


def test_critical_alerts_go_to_pagerduty_too_and_its_key_is_in_no_template() -> None:
    secret = "arn:aws:secretsmanager:us-east-2:123456789012:secret:pagerduty-AbCdEf"
    definition = json.dumps(one(stack(with_section(f"{{alerts: {{pagerduty: {secret}}}}}")), "AWS::APS::Workspace"))
    assert secret in definition
    assert "aws_secrets_manager" in definition
    assert "pagerduty" not in json.dumps(one(stack(GOOD), "AWS::APS::Workspace"))


def test_alerts_carry_the_address_of_their_page_where_people_can_open_it() -> None:
    def pages(text: str) -> set[str]:
        rules = json.dumps([r for r in stack(text).values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"])
        return set(re.findall(r'runbook_url: \\"([^"\\]+)\\"', rules)) | set(
            re.findall(r'runbook_url: \\\\\\"([^"\\]+)', rules)
        )

    assert "docs/runbooks/GpuXidFatal.md" in pages(GOOD)
    found = pages(with_section("{alerts: {runbooks: https://wiki.example.com/gpu/runbooks}}"))
    assert "https://wiki.example.com/gpu/runbooks/GpuXidFatal.md" in found
    assert {page.rpartition("/")[0] for page in found} == {"https://wiki.example.com/gpu/runbooks"}
    assert len(found) == len(metrics.ALERTS)


def test_an_address_of_pages_is_nobody_who_hears() -> None:
    only = with_section("{alerts: {runbooks: https://wiki.example.com/runbooks}}")
    assert "alerts-unheard" in ids(only)
    assert "alerts-unheard" not in ids(with_section("{alerts: {email: oncall@example.com}}"))


def test_storage_tells_the_topic_of_the_alerts() -> None:
    found = stack(GOOD.replace("40 GB/s}", "40 GB/s}, home: {}"))
    alarms = [name for name, resource in found.items() if resource["Type"] == "AWS::CloudWatch::Alarm"]
    assert any(name.startswith("LustreAlarms") for name in alarms)
    assert any(name.startswith("HomeAlarms") for name in alarms)
    assert "AWS::CloudWatch::Alarm" not in types(stack(GOOD, "llama-Storage"))


def test_who_should_be_there_is_written_down() -> None:
    text = json.dumps([r for r in stack(GOOD).values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"])
    assert "vector(64)" in text
    assert metrics.EXPECTED_NODES in text


def test_nodes_read_where_to_write_so_that_another_workspace_replaces_none() -> None:
    other = with_section("{retention: 30 d, grafana: {kind: none}, alerts: {email: a@example.com}}")
    assert stack(GOOD, "llama-Compute") == stack(other, "llama-Compute")
    cluster = clusterfile.loads(GOOD, "c.yaml")
    (boot,) = collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"], group="train", layout="all-efa")
    whole = "".join(file.text for file in boot.files)
    assert "--parameter /ultracluster/llama/remote-write-url" in whole
    assert one(stack(GOOD), "AWS::SSM::Parameter")["Name"] == "/ultracluster/llama/remote-write-url"


def test_rules_are_written_to_no_workspace_of_another_region() -> None:
    found = wrong(f"{{workspace: {WORKSPACE.replace('us-east-2', 'eu-west-1')}}}")
    assert found == "observability.workspace: is in eu-west-1, and must be in the cluster's region, us-east-2"


def test_nodes_write_to_a_workspace_of_yours() -> None:
    cluster = clusterfile.loads(with_section(f"{{workspace: {WORKSPACE}}}"), "c.yaml")
    (boot,) = collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"], group="train", layout="all-efa")
    whole = "".join(file.text for file in boot.files)
    assert "--url https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-01234567" in whole
    assert "--region us-east-2" in whole


def test_the_role_of_nodes_may_write_and_read_one_parameter() -> None:
    statements = [
        statement
        for resource in stack(GOOD).values()
        if resource["Type"] == "AWS::IAM::ManagedPolicy"
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        if "Grafana" not in json.dumps(resource["Properties"]["Roles"])
    ]
    granted = {json.dumps(statement["Action"]) for statement in statements}
    assert {'"aps:RemoteWrite"', '"ssm:GetParameter"'} <= granted
    assert all("*" not in json.dumps(statement["Resource"]) for statement in statements)


@given(profile=st.sampled_from(sorted(SERIES_PER_NODE)), nodes=st.integers(1, 200_000))
def test_a_profile_that_breaks_the_quota_is_refused_and_the_way_out_named(profile: str, nodes: int) -> None:
    said = [one.message for one in check_series(Observability(profile=profile), nodes)]
    assert bool(said) == (series_at_most(profile, nodes) > ACTIVE_SERIES)
    for message in said:
        out = message.rpartition("take ")[2]
        assert out in SERIES_PER_NODE or "have it raised" in message
        if out in SERIES_PER_NODE:
            assert series_at_most(out, nodes) <= ACTIVE_SERIES


@given(profile=st.sampled_from(sorted(SERIES_PER_NODE)), nodes=st.integers(1, 9_000))
def test_the_limit_of_a_cluster_leaves_room_and_fits_the_quota(profile: str, nodes: int) -> None:
    assert series_at_most(profile, nodes) <= series_limit(profile, nodes) <= ACTIVE_SERIES


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_no_type_sends_more_than_its_profile_promises(name: str) -> None:
    kind = INSTANCE_TYPES[name]
    for profile in metrics.Profile:
        sizes = {"efa_devices": kind.max_efa, "mounts": 2}
        sent = scraped_series(kind, profile, **sizes) + recorded_series(kind, profile, **sizes)
        assert sent <= SERIES_PER_NODE[profile.name.lower()]


def test_check_tells_how_much_is_collected_and_where_it_is_looked_at(tmp_path: Path) -> None:
    cluster = clusterfile.loads(GOOD, "c.yaml")
    facts = observability_facts(cluster)
    assert facts is not None
    assert 0 < facts["series"] <= series_at_most("standard", 65) < facts["series_limit"]
    (sentence,) = observability_sentences(cluster)
    file = tmp_path / "c.yaml"
    file.write_text(GOOD)
    said = CliRunner().invoke(app, ["check", str(file)])
    assert sentence in " ".join(said.output.split())
    assert sentence.endswith("dashboards on a server of your own")
    assert observability_sentences(clusterfile.loads(with_section("{profile: none}"), "c.yaml")) == []


def test_check_counts_what_is_asked_once_for_the_cluster() -> None:
    def series(text: str) -> int:
        facts = observability_facts(clusterfile.loads(text, "c.yaml"))
        assert facts is not None
        found: int = facts["series"]
        return found

    # The controller's pages, asked by two login nodes, and what is recorded of them.
    silent = series(f"{GOOD}slurm: {{metrics: false, login: {{count: 2}}}}\n")
    assert series(f"{GOOD}slurm: {{login: {{count: 2}}}}\n") - silent > 100
    eks = (ROOT / "examples" / "eks-minimal.yaml").read_text()
    teams = eks.replace("kubernetes: {", "kubernetes: {teams: {a: {}, b: {}, c: {}}, ")
    assert series(eks) < series(teams)


def test_standard_is_at_most_1600_series_a_node() -> None:
    assert SERIES_PER_NODE["standard"] <= 1_600
    assert list(SERIES_PER_NODE) == ["basic", "standard", "full"]
    assert list(SERIES_PER_NODE.values()) == sorted(SERIES_PER_NODE.values())
    assert {profile.upper() for profile in SERIES_PER_NODE} == {profile.name for profile in metrics.Profile}
