"""The controller's own metrics, from the cluster file to the rules that read them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clusterfile_data import GOOD
from ruamel.yaml import YAML
from rule_tests import all_rules
from test_golden import templates

from ultracluster import clusterfile
from ultracluster.hardware import instance_type
from ultracluster.metrics.agent import SLURM_TARGET
from ultracluster.patterns import collectors

LOGIN = instance_type("c7i.2xlarge")


def cluster(more: str = "") -> clusterfile.ClusterFile:
    return clusterfile.loads(f"{GOOD}{more}", "c.yaml")


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ("", True),
        ("slurm: {version: 25.05}\n", False),
        ("slurm: {metrics: false}\n", False),
        ("slurm: {settings: {PrivateData: jobs}}\n", False),
        ("slurm: {settings: {CommunicationParameters: NoAddrCache}}\n", False),
        ("observability: {profile: none}\n", False),
        ("observability: {profile: none}\nslurm: {metrics: true}\n", True),
    ],
)
def test_the_controller_shows_its_metrics_where_somebody_collects_them(more: str, shown: bool) -> None:
    assert cluster(more).slurm_metrics is shown


def test_the_controller_is_told_and_the_login_nodes_ask_it_and_no_other_nodes_do() -> None:
    found = cluster()
    (pcs,) = [one["Properties"] for one in templates(found)["llama-Cluster"]["Resources"].values()
              if one["Type"] == "AWS::PCS::Cluster"]  # fmt: skip
    said = {one["ParameterName"]: one["ParameterValue"] for one in pcs["SlurmConfiguration"]["SlurmCustomSettings"]}
    assert said["MetricsType"] == "metrics/openmetrics"
    assert said["CommunicationParameters"] == "enable_http"
    (login,) = collectors(found, LOGIN)
    assert "ultracluster-metrics-slurm-target.timer" in login.units
    assert SLURM_TARGET in "".join(file.text for file in login.files)
    for group in found.node_groups:
        (boot,) = collectors(found, group.instance_type, group=group.name, layout=group.layout)
        assert "slurm" not in "".join(boot.units)
    (silent,) = collectors(cluster("slurm: {metrics: false}\n"), LOGIN)
    assert "slurm" not in "".join(silent.units)


def test_the_port_is_open_to_nodes_and_file_servers_and_to_no_range_of_addresses() -> None:
    found = templates(cluster())
    (pcs,) = [one["Properties"] for one in found["llama-Cluster"]["Resources"].values()
              if one["Type"] == "AWS::PCS::Cluster"]  # fmt: skip
    assert len(pcs["Networking"]["SecurityGroupIds"]) == 1
    network = found["llama-Network"]["Resources"]
    (group,) = [id for id, one in network.items() if one["Type"] == "AWS::EC2::SecurityGroup" and "Nodes" in id]
    rules = [
        one["Properties"]
        for template in found.values()
        for one in template["Resources"].values()
        if one["Type"] == "AWS::EC2::SecurityGroupIngress" and group in json.dumps(one["Properties"]["GroupId"])
    ]
    inside = [rule for rule in rules if rule["IpProtocol"] == "-1"]
    assert inside
    for rule in rules:
        opens = rule["IpProtocol"] == "-1" or int(rule["FromPort"]) <= 6817 <= int(rule["ToPort"])
        source = json.dumps(rule["SourceSecurityGroupId"])
        assert not opens or group in source or "LustreGroup" in source
    assert "SecurityGroupIngress" not in network[group]["Properties"]


def test_prometheus_takes_the_login_nodes_configuration(tmp_path: Path) -> None:
    (boot,) = collectors(cluster(), LOGIN)
    (text,) = [file.text for file in boot.files if file.path.endswith("/agent.yaml")]
    target = tmp_path / "slurm.json"
    target.write_text('[{"targets": ["10.0.3.17:6817"]}]\n')
    config = tmp_path / "agent.yaml"
    config.write_text(text.replace("@URL@", "https://example.com/w").replace(SLURM_TARGET, str(target)))
    done = subprocess.run(["promtool", "check", "config", "--agent", config], capture_output=True, text=True)
    assert (done.returncode, "FAILED" in done.stdout) == (0, False), done.stdout + done.stderr
    jobs = {job["job_name"]: job for job in YAML(typ="safe").load(text)["scrape_configs"]}
    labels = {rule["target_label"]: rule["replacement"] for rule in jobs["slurm-nodes"]["relabel_configs"]}
    assert labels == jobs["node"]["static_configs"][0]["labels"]


def test_two_login_nodes_that_ask_the_same_controller_count_nothing_twice(tmp_path: Path) -> None:
    rules = [rule for rule in all_rules() if rule.get("record", "").startswith("slurm:")]
    assert len(rules) == 3
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "slurm", "rules": rules}]}))
    said = {
        'slurm_nodes_idle{cluster="llama"': 7,
        'slurm_jobs_running{cluster="llama"': 5,
        'slurm_partition_jobs{cluster="llama",partition="train"': 4,
    }
    series = [
        {"series": f'{name},group="login",instance="{login}"}}', "values": f"{value}x9"}
        for name, value in said.items()
        for login in ("i-1", "i-2")
    ]
    wanted: list[tuple[str, str, int]] = [
        ("slurm:nodes:count", 'slurm:nodes:count{cluster="llama",state="idle"}', 7),
        ("slurm:jobs:count", 'slurm:jobs:count{cluster="llama",state="running"}', 5),
        ("slurm:partition_jobs:count", 'slurm:partition_jobs:count{cluster="llama",partition="train"}', 4),
    ]
    expected: list[dict[str, Any]] = [
        {"expr": name, "eval_time": "5m", "exp_samples": [{"labels": labels, "value": value}]}
        for name, labels, value in wanted
    ]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": expected}
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "tests.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        ["promtool", "test", "rules", tmp_path / "tests.yaml"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
