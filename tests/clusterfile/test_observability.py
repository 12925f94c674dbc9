"""Metrics, alerts and dashboards in the cluster file: what they become, and what is said of those that can't be."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from typer.testing import CliRunner

from support import ROOT
from support.clusterfile_data import GOOD, RESERVATION, bent, problem
from support.templates import templates
from ultracluster import clusterfile, monitoring
from ultracluster.catalogue.ec2 import INSTANCE_TYPES
from ultracluster.catalogue.monitoring import ACTIVE_SERIES, MANAGED_GRAFANA_REGIONS
from ultracluster.cli import app
from ultracluster.clusterfile.rules._observability import check_series
from ultracluster.clusterfile.sections._observability import Observability
from ultracluster.monitoring._volume import recorded_series, scraped_series
from ultracluster.monitoring.alerts import ALERTS
from ultracluster.monitoring.names import EXPECTED_NODES, Profile
from ultracluster.planning.workload import SERIES_PER_NODE, rules_use, series_at_most, series_limit, uses
from ultracluster.slurm._metrics import slurm_collectors

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
    resources = templates(clusterfile.loads(text, "c.yaml"))[name]["Resources"]
    assert isinstance(resources, dict)
    return resources


def types(resources: dict[str, Any]) -> set[str]:
    return {resource["Type"] for resource in resources.values()}


def properties_of(resources: dict[str, Any], type: str) -> Any:
    (result,) = [resource["Properties"] for resource in resources.values() if resource["Type"] == type]
    return result


def test_a_cluster_of_ten_lines_is_monitored_without_an_identity_center() -> None:
    resources = stack(GOOD)
    assert {"AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::CloudWatch::Alarm"} <= types(resources)
    assert "AWS::AutoScaling::AutoScalingGroup" in types(resources)
    assert "AWS::Grafana::Workspace" not in types(resources)


def test_an_alarm_notifies_where_the_alert_manager_sends_nothing() -> None:
    resources = stack(GOOD)
    (alarm,) = [resource["Properties"] for name, resource in resources.items() if name.startswith("WatchdogAlarm")]
    topic = alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
    assert (alarm["TreatMissingData"], alarm["AlarmActions"]) == ("breaching", alarm["OKActions"])
    assert alarm["AlarmActions"] != [{"Ref": topic}], "that topic is read by nobody"
    (workspace,) = [r["Properties"] for r in resources.values() if r["Type"] == "AWS::APS::Workspace"]
    parts = workspace["AlertManagerDefinition"]["Fn::Join"][1]
    assert parts[parts.index({"Ref": topic}) - 1].endswith(
        '- name: watchdog\n      sns_configs:\n        - topic_arn: "'
    )
    for section in (
        "{alerts: {watchdog: arn:aws:sns:us-east-2:123456789012:dead-man}}",
        "{alerts: {off: [Watchdog]}}",
        f"{{workspace: {WORKSPACE}}}",
    ):
        assert not [name for name in stack(with_section(section)) if name.startswith("Watchdog")], section


def test_the_profile_none_creates_and_collects_nothing() -> None:
    text = with_section("{profile: none}")
    cluster = clusterfile.loads(text, "c.yaml")
    assert "llama-Observability" not in templates(cluster)
    assert slurm_collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"]) == []
    assert "alerts-without-subscription" not in ids(text)


def test_managed_grafana_replaces_the_server() -> None:
    resources = stack(with_section("{grafana: {kind: managed}}"))
    assert {"AWS::Grafana::Workspace", "Custom::GrafanaContent", "AWS::Lambda::Function"} <= types(resources)
    assert "AWS::AutoScaling::AutoScalingGroup" not in types(resources)


def test_an_existing_grafana_gets_only_the_content() -> None:
    resources = stack(with_section("{grafana: {kind: managed, workspace: g-0123456789}}"))
    assert properties_of(resources, "Custom::GrafanaContent")["WorkspaceId"] == "g-0123456789"
    assert "AWS::Grafana::Workspace" not in types(resources)


def test_managed_grafana_has_the_users_and_groups_of_the_file() -> None:
    group, user = "94482488-3041-7012-ab12-123456789012", "1234567890-94482488-3041-7012-ab12-123456789012"
    resources = stack(
        with_section(f"{{grafana: {{kind: managed, groups: {{{group}: viewer}}, users: {{{user}: admin}}}}}}")
    )
    members = properties_of(resources, "Custom::GrafanaContent")["Members"]
    assert json.loads(members) == {f"SSO_GROUP/{group}": "VIEWER", f"SSO_USER/{user}": "ADMIN"}
    policies = [resource for resource in resources.values() if resource["Type"] == "AWS::IAM::Policy"]
    assert "grafana:UpdatePermissions" in json.dumps(policies)


def test_the_kind_none_creates_no_grafana() -> None:
    resources = stack(with_section("{grafana: {kind: none}}"))
    assert not types(resources) & {
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


def test_govcloud_has_existing_workspaces_and_no_new_ones() -> None:
    text = GOOD.replace("us-east-2", "us-gov-west-1").replace("use2", "usgw1")
    created = clusterfile.loads(f"{text}observability: {{grafana: {{kind: managed}}}}\n", "c.yaml")
    assert created.grafana == "self-hosted"
    existing = f"{text}observability: {{grafana: {{kind: managed, workspace: g-0123456789}}}}\n"
    assert clusterfile.loads(existing, "c.yaml").grafana == "managed"


@pytest.mark.parametrize("section", ["", "observability: {}", "observability: {profile: basic}"])
def test_a_region_without_prometheus_names_the_key_that_turns_metrics_off(section: str) -> None:
    file = "\n".join(
        [
            *("name: north", "region: cn-north-1", "zone: cnn1-az1", "orchestrator: kubernetes"),
            "kubernetes: {admins: ['arn:aws-cn:iam::123456789012:role/platform']}",
            "nodes: {train: {type: p4d.24xlarge, count: 2}}",
            "",
        ]
    )
    with pytest.raises(clusterfile.ClusterFileError) as refused:
        clusterfile.loads(file + section, "c.yaml")
    (problem,) = refused.value.problems
    assert (problem.rule, problem.field) == ("prometheus-region", "observability.profile")
    assert problem.message.endswith("write observability: {profile: none}")
    cluster = clusterfile.loads(file + "observability: {profile: none}", "c.yaml")
    # m7i, the default, is not in the Region; a type of the file is not changed.
    assert cluster.service_type.name == "m6i.2xlarge"
    assert "system nodes: 2 m6i.2xlarge" in clusterfile.orchestrator_texts(cluster).control_plane(cluster)
    named = file.replace("{admins:", "{system: {type: m7i.2xlarge}, admins:") + "observability: {profile: none}"
    assert clusterfile.loads(named, "c.yaml").service_type.name == "m7i.2xlarge"


def test_an_existing_workspace_gets_unique_rules_and_no_second_alert_manager() -> None:
    text = with_section(f"{{workspace: {WORKSPACE}}}")
    resources = stack(text)
    names = {r["Properties"]["Name"] for r in resources.values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"}
    assert names
    assert all(name.startswith("llama-") for name in names)
    assert "AWS::APS::Workspace" not in types(resources)
    assert "alert-manager" in ids(text)


def test_critical_alerts_go_to_pagerduty_too_and_its_key_is_in_no_template() -> None:
    secret = "arn:aws:secretsmanager:us-east-2:123456789012:secret:pagerduty-AbCdEf"
    resources = stack(with_section(f"{{alerts: {{pagerduty: {secret}}}}}"))
    definition = json.dumps(properties_of(resources, "AWS::APS::Workspace"))
    assert secret in definition
    assert "aws_secrets_manager" in definition
    assert "pagerduty" not in json.dumps(properties_of(stack(GOOD), "AWS::APS::Workspace"))


def test_alerts_carry_the_address_of_their_page_where_people_can_open_it() -> None:
    def pages(text: str) -> set[str]:
        rules = json.dumps([r for r in stack(text).values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"])
        return set(re.findall(r'runbook_url: \\"([^"\\]+)\\"', rules)) | set(
            re.findall(r'runbook_url: \\\\\\"([^"\\]+)', rules)
        )

    assert len(pages(GOOD)) == len(ALERTS)
    assert all("/d/ultracluster-runbooks?viewPanel=" in page for page in pages(GOOD))
    urls = pages(with_section("{alerts: {runbooks: https://wiki.example.com/gpu/runbooks}}"))
    assert "https://wiki.example.com/gpu/runbooks/GpuXidFatal.md" in urls
    assert {page.rpartition("/")[0] for page in urls} == {"https://wiki.example.com/gpu/runbooks"}
    assert len(urls) == len(ALERTS)


def links(resources: dict[str, Any]) -> tuple[int, str]:
    """Return the number of links to dashboards and runbooks, and the text of the rules."""
    text = json.dumps([r for r in resources.values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"])
    return len(re.findall("runbook_url: |dashboard_url: ", text)), text


def test_alerts_link_to_the_managed_grafana_of_the_stack() -> None:
    resources = stack((ROOT / "examples" / "slurm-managed-grafana.yaml").read_text(), "watched-Observability")
    (grafana,) = [name for name, item in resources.items() if item["Type"] == "AWS::Grafana::Workspace"]
    number, text = links(resources)
    assert "localhost" not in text
    assert number == text.count(json.dumps({"Fn::GetAtt": [grafana, "Endpoint"]})) == 2 * len(ALERTS)
    assert f'_url: \\"https://", {{"Fn::GetAtt": ["{grafana}", "Endpoint"]}}, "/d/ultracluster-' in text
    # Others may have a data source in the workspace. Runbooks show none.
    (content,) = [item for item in resources.values() if item["Type"] == "Custom::GrafanaContent"]
    assert '"uid":"ultracluster-watched"' in json.dumps(content["Properties"]["DataSources"]).replace("\\", "")
    assert text.count("&var-datasource=ultracluster-watched") == len(ALERTS)


def test_alerts_link_to_an_existing_managed_grafana() -> None:
    assert "var-datasource" not in links(stack(GOOD))[1]
    number, text = links(stack(with_section("{grafana: {kind: managed, workspace: g-0123456789}}")))
    address = "https://g-0123456789.grafana-workspace.us-east-2.amazonaws.com/d/"
    assert number == text.count(f'_url: \\"{address}') == 2 * len(ALERTS)


def test_the_address_of_the_file_precedes_that_of_the_managed_grafana() -> None:
    number, text = links(stack(with_section("{grafana: {kind: managed}, alerts: {grafana: https://g.example.com}}")))
    assert number == text.count('_url: \\"https://g.example.com/d/') == 2 * len(ALERTS)
    assert "Endpoint" not in text


def test_an_address_of_runbooks_is_no_recipient() -> None:
    only = with_section("{alerts: {runbooks: https://wiki.example.com/runbooks}}")
    assert "alerts-without-subscription" in ids(only)
    assert "alerts-without-subscription" not in ids(with_section("{alerts: {email: oncall@example.com}}"))


def test_pagerduty_alone_does_not_get_warnings_and_alarms_of_cloudwatch() -> None:
    pager = "arn:aws:secretsmanager:us-east-2:123456789012:secret:pager-AbCdEf"
    text = with_section(f"{{alerts: {{pagerduty: '{pager}'}}}}")
    # What it does not get goes to a topic without a subscription, the alarm on the Watchdog included.
    resources = stack(text)
    topic = next(name for name in resources if name.startswith("AlertsTopic"))
    assert "AWS::SNS::Subscription" not in types(resources)
    [alarm] = [name for name in resources if name.startswith("WatchdogAlarm")]
    assert resources[alarm]["Properties"]["AlarmActions"] == [{"Ref": topic}]
    assert "alerts-without-subscription" in ids(text)
    assert "alerts-without-subscription" not in ids(text.replace("pagerduty:", "email: a@example.com, pagerduty:"))


def test_storage_notifies_the_topic_of_the_alerts() -> None:
    resources = stack(GOOD.replace("40 GB/s}", "40 GB/s}, home: {}"))
    alarms = [name for name, resource in resources.items() if resource["Type"] == "AWS::CloudWatch::Alarm"]
    assert any(name.startswith("LustreAlarms") for name in alarms)
    assert any(name.startswith("HomeAlarms") for name in alarms)
    assert "AWS::CloudWatch::Alarm" not in types(stack(GOOD, "llama-Storage"))


def test_expected_nodes_are_exported() -> None:
    text = json.dumps([r for r in stack(GOOD).values() if r["Type"] == "AWS::APS::RuleGroupsNamespace"])
    assert "vector(64)" in text
    assert EXPECTED_NODES in text


def test_nodes_read_where_to_write_so_that_another_workspace_replaces_none() -> None:
    other = with_section("{retention: 30 d, grafana: {kind: none}, alerts: {email: a@example.com}}")
    nodes = [
        {id: item for id, item in stack(text, "llama-Compute").items() if item["Type"] != "AWS::IAM::ManagedPolicy"}
        for text in (GOOD, other)
    ]
    # The policy of users names the dashboards.
    assert nodes[0] == nodes[1]
    cluster = clusterfile.loads(GOOD, "c.yaml")
    (boot,) = slurm_collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"], group="train", layout="all-efa")
    whole = "".join(file.text for file in boot.files)
    assert "--parameter /ultracluster/llama/remote-write-url" in whole
    assert properties_of(stack(GOOD), "AWS::SSM::Parameter")["Name"] == "/ultracluster/llama/remote-write-url"


def test_rules_are_written_to_no_workspace_of_another_region() -> None:
    error = wrong(f"{{workspace: {WORKSPACE.replace('us-east-2', 'eu-west-1')}}}")
    assert error == "observability.workspace: is in eu-west-1, and must be in the cluster's Region, us-east-2"


def test_nodes_write_to_an_existing_workspace() -> None:
    cluster = clusterfile.loads(with_section(f"{{workspace: {WORKSPACE}}}"), "c.yaml")
    (boot,) = slurm_collectors(cluster, INSTANCE_TYPES["p5en.48xlarge"], group="train", layout="all-efa")
    whole = "".join(file.text for file in boot.files)
    assert "--url https://aps-workspaces.us-east-2.amazonaws.com/workspaces/ws-01234567" in whole
    assert "--region us-east-2" in whole


def test_the_role_of_nodes_may_write_and_read_one_parameter() -> None:
    statements = [
        statement
        for resource in stack(GOOD).values()
        if resource["Type"] == "AWS::IAM::Policy"
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        if "Grafana" not in json.dumps(resource["Properties"]["Roles"])
    ]
    granted = {json.dumps(statement["Action"]) for statement in statements}
    assert {'"aps:RemoteWrite"', '"ssm:GetParameter"'} <= granted
    wide = [statement["Action"] for statement in statements if "*" in json.dumps(statement["Resource"])]
    # EC2 has no permission on single instances for it.
    assert set(wide) == {"ec2:DescribeInstanceTopology"}


@given(profile=st.sampled_from(sorted(SERIES_PER_NODE)), nodes=st.integers(1, 200_000))
def test_rejects_a_profile_above_the_quota_with_the_remedy(profile: str, nodes: int) -> None:
    messages = [error.message for error in check_series(Observability(profile=profile), nodes)]
    above = [use for use in uses(profile, nodes) if use.most > use.quota]
    assert bool(messages) == bool(above)
    assert above or series_at_most(profile, nodes) <= ACTIVE_SERIES
    for message in messages:
        out = re.search(r"by default; (?:use (\w+), or )?name a workspace", message)
        assert out
        for use in above:
            assert f"{use.most:,} {use.what}" in message
            assert f"--service-code aps --quota-code {use.code} --desired-value {use.most}" in message
        if out[1]:
            assert all(use.most <= use.quota for use in uses(out[1], nodes))


def test_names_the_request_of_each_quota_that_is_near(tmp_path: Path) -> None:
    alerts = "".join(f"      - {{alert: A{number}, expr: up == 0}}\n" for number in range(1_100))
    (tmp_path / "team.yaml").write_text(f"groups:\n  - name: team\n    rules:\n{alerts}")
    path = tmp_path / "c.yaml"
    path.write_text(with_section("{rules: [team.yaml]}"))
    cluster = clusterfile.load(path)
    near = {code[1]: warning.message for warning in clusterfile.warnings(cluster)
            if (code := re.search(r"--quota-code (\S+)", warning.message))}  # fmt: skip
    assert near.keys() == {"L-3D15CDB4", "L-E9CD1A4F"}
    assert "may have 1,433 rules of the 2,000 of a workspace" in near["L-3D15CDB4"]
    assert "may have 71,500 active alerts of the 1,000 of a workspace" in near["L-E9CD1A4F"]
    assert rules_use(0, 0).most >= sum(
        len(group["rules"])
        for file in monitoring.alerts.rules(Profile.FULL).values()
        for group in YAML(typ="safe").load(file)["groups"]
    )


def test_counts_all_rules_of_a_workspace_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rules = "".join(f"      - {{record: 'team:{name}:{number}', expr: up}}\n" for number in range(900))
        (tmp_path / f"{name}.yaml").write_text(f"groups:\n  - name: team\n    rules:\n{rules}")
    path = tmp_path / "c.yaml"
    path.write_text(with_section("{rules: [one.yaml, two.yaml]}"))
    with pytest.raises(clusterfile.ClusterFileError, match=r"rules: there are 2,1\d\d rules.*--quota-code L-3D15CDB4"):
        clusterfile.load(path)
    for name in ("one", "two"):
        text = "x" * 360_000
        (tmp_path / f"{name}.yaml").write_text(
            f"groups:\n  - name: team\n    rules:\n      - {{record: 'team:{name}', expr: up}}\n# {text}\n"
        )
    with pytest.raises(
        clusterfile.ClusterFileError, match=r"rules: the rule files have 9\d\d,\d+ bytes in the template"
    ):
        clusterfile.load(path)


@given(profile=st.sampled_from(sorted(SERIES_PER_NODE)), nodes=st.integers(1, 9_000))
def test_the_limit_of_a_cluster_leaves_room_and_fits_the_quota(profile: str, nodes: int) -> None:
    assert series_at_most(profile, nodes) <= series_limit(profile, nodes) <= ACTIVE_SERIES


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_no_type_sends_more_than_its_profile_promises(name: str) -> None:
    kind = INSTANCE_TYPES[name]
    for profile in Profile:
        sizes = {"efa_devices": kind.max_efa, "mounts": 2}
        sent = scraped_series(kind, profile, **sizes) + recorded_series(kind, profile, **sizes)
        assert sent <= SERIES_PER_NODE[profile.name.lower()]


def test_check_prints_the_number_of_series_and_the_dashboards(tmp_path: Path) -> None:
    cluster = clusterfile.loads(GOOD, "c.yaml")
    facts = monitoring.describe(cluster).facts
    assert facts is not None
    assert 0 < facts["series"] <= series_at_most("standard", 65) < facts["series_limit"]
    (sentence,) = monitoring.describe(cluster).lines
    file = tmp_path / "c.yaml"
    file.write_text(GOOD)
    result = CliRunner().invoke(app, ["check", str(file)])
    assert sentence in " ".join(result.output.split())
    assert sentence.endswith("dashboards on a self-hosted server")
    assert monitoring.describe(clusterfile.loads(with_section("{profile: none}"), "c.yaml")).lines == []
    large = bent("count: 64", "count: 2000", with_section("{profile: full}\nslurm: {size: LARGE}"))
    large = bent("40 GB/s", "40 GB/s, efa: false", bent(f", capacity: {RESERVATION}", "", large))
    _, steps = monitoring.describe(clusterfile.loads(large, "c.yaml")).lines
    assert steps.startswith("metrics: a workspace accepts 2,000,000 active series at once")


def test_an_alert_fires_before_the_limit_of_the_cluster_with_what_rules_record() -> None:
    def limit(section: str) -> int:
        rules = monitoring.cluster_rules(clusterfile.loads(with_section(section), "c.yaml"))
        match = re.search(r"scrape_samples_post_metric_relabeling:sum\{[^)]*\) > ([0-9.e+]+)", rules["alerts.yaml"])
        assert match
        return int(float(match[1]))

    # Of 65 nodes at 1,600 series, three times, four fifths; a third or more of them is recorded.
    assert 0.3 < 1 - limit("{}") / (0.8 * 312_000) < 0.5
    assert limit("{series-limit: 624000}") == pytest.approx(2 * limit("{}"), abs=2)
    assert limit(f"{{workspace: '{WORKSPACE}'}}") > 20_000_000
    assert limit("{alerts: {thresholds: {SeriesNearQuota: 5000}}}") == 5000


def test_check_counts_queries_once_for_the_cluster() -> None:
    def series(text: str) -> int:
        facts = monitoring.describe(clusterfile.loads(text, "c.yaml")).facts
        assert facts is not None
        series: int = facts["series"]
        return series

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
    assert {profile.upper() for profile in SERIES_PER_NODE} == {profile.name for profile in Profile}
