"""The controller's own metrics, from the cluster file to the rules that read them."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.clusterfile_data import GOOD
from support.rule_tests import all_rules
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.monitoring.collectors._agent import SLURM_TARGET
from ultracluster.monitoring.dashboards._scheduler import SCHEDULER
from ultracluster.monitoring.names import SLURM_METRICS
from ultracluster.slurm._metrics import slurm_collectors

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


def test_only_login_nodes_scrape_the_controller() -> None:
    result = cluster()
    (pcs,) = [item["Properties"] for item in templates(result)["llama-Cluster"]["Resources"].values()
              if item["Type"] == "AWS::PCS::Cluster"]  # fmt: skip
    output = {
        item["ParameterName"]: item["ParameterValue"] for item in pcs["SlurmConfiguration"]["SlurmCustomSettings"]
    }
    assert output["MetricsType"] == "metrics/openmetrics"
    assert output["CommunicationParameters"] == "enable_http"
    (login,) = slurm_collectors(result, LOGIN)
    assert "ultracluster-metrics-slurm-target.timer" in login.units
    assert SLURM_TARGET in "".join(file.text for file in login.files)
    for group in result.node_groups:
        (boot,) = slurm_collectors(result, group.instance_type, group=group.name, layout=group.layout)
        assert "slurm" not in "".join(boot.units)
    (silent,) = slurm_collectors(cluster("slurm: {metrics: false}\n"), LOGIN)
    assert "slurm" not in "".join(silent.units)


@pytest.mark.parametrize("more", ["", "slurm: {metrics: false}\n", "slurm: {version: '25.05'}\n"])
def test_login_nodes_report_the_running_jobs_of_every_release(more: str) -> None:
    """JobLost needs them, also where the controller serves no metrics."""
    result = cluster(more)
    (login,) = slurm_collectors(result, LOGIN)
    assert " --queue yes\n" in "".join(file.text for file in login.files)
    group = result.node_groups[0]
    (boot,) = slurm_collectors(result, group.instance_type, group=group.name, layout=group.layout)
    assert "--queue" not in "".join(file.text for file in boot.files if "collect-textfiles" in file.path)


def test_the_port_is_open_to_nodes_and_file_servers_and_to_no_range_of_addresses() -> None:
    result = templates(cluster())
    (pcs,) = [item["Properties"] for item in result["llama-Cluster"]["Resources"].values()
              if item["Type"] == "AWS::PCS::Cluster"]  # fmt: skip
    assert len(pcs["Networking"]["SecurityGroupIds"]) == 1
    network = result["llama-Network"]["Resources"]
    (group,) = [id for id, item in network.items() if item["Type"] == "AWS::EC2::SecurityGroup" and "Nodes" in id]
    rules = [
        item["Properties"]
        for template in result.values()
        for item in template["Resources"].values()
        if item["Type"] == "AWS::EC2::SecurityGroupIngress" and group in json.dumps(item["Properties"]["GroupId"])
    ]
    inside = [rule for rule in rules if rule["IpProtocol"] == "-1"]
    assert inside
    for rule in rules:
        opens = rule["IpProtocol"] == "-1" or int(rule["FromPort"]) <= 6817 <= int(rule["ToPort"])
        source = json.dumps(rule["SourceSecurityGroupId"])
        assert not opens or group in source or "LustreGroup" in source
    assert "SecurityGroupIngress" not in network[group]["Properties"]


def test_prometheus_takes_the_login_nodes_configuration(tmp_path: Path) -> None:
    (boot,) = slurm_collectors(cluster(), LOGIN)
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
    rules = [rule for rule in all_rules() if rule.get("record", "").startswith("ultracluster_slurm_")]
    assert len(rules) == 6
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "slurm", "rules": rules}]}))
    output = {
        'slurm_nodes_idle{cluster="llama"': 7,
        'slurm_jobs_running{cluster="llama"': 5,
        # An array of 100 waits, and two jobs have ended.
        'slurm_partition_jobs{cluster="llama",partition="train"': 4,
        'slurm_partition_jobs_pending{cluster="llama",partition="train"': 100,
        'slurm_partition_jobs_running{cluster="llama",partition="train"': 1,
        'slurm_partition_jobs_gpus_alloc{cluster="llama",partition="train"': 64,
        'slurm_slurmdbd_queue_size{cluster="llama"': 12,
        'ultracluster_blocked_jobs{cluster="llama",reason="BadConstraints"': 3,
    }
    series = [
        {"series": f'{name},group="login",instance="{login}"}}', "values": f"{value}x9"}
        for name, value in output.items()
        for login in ("i-1", "i-2")
    ]
    queue = 'cluster="llama",partition="train"'
    wanted: dict[str, dict[str, int]] = {
        "ultracluster_slurm_nodes": {'cluster="llama",state="idle"': 7},
        "ultracluster_slurm_jobs": {'cluster="llama",state="running"': 5},
        "ultracluster_slurm_partition_jobs": {f'{queue},state="pending"': 100, f'{queue},state="running"': 1},
        "ultracluster_slurm_partition_gpus_in_jobs": {queue: 64},
        "ultracluster_slurm_accounting_queue": {'cluster="llama"': 12},
        "ultracluster_slurm_blocked_jobs": {'cluster="llama",reason="BadConstraints"': 3},
    }
    expected: list[dict[str, Any]] = [
        {
            "expr": name,
            "eval_time": "5m",
            "exp_samples": [{"labels": f"{name}{{{labels}}}", "value": value} for labels, value in samples.items()],
        }
        for name, samples in wanted.items()
    ]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": expected}
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "tests.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        ["promtool", "test", "rules", tmp_path / "tests.yaml"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


# Of src/plugins/metrics/openmetrics/openmetrics.c, tag slurm-25-11-7-1 of https://github.com/SchedMD/slurm (read
# 2026-11-28): those of its 200 names that rules may read.
OF_25_11 = {
    *(f"slurm_nodes_{word}" for word in ("alloc", "idle", "mixed", "down", "drain", "fail", "noresp", "maint")),
    *(f"slurm_nodes_{word}" for word in ("powered_down", "powering_up")),
    *(f"slurm_jobs_{word}" for word in ("pending", "running", "completing", "failed", "node_failed", "timeout")),
    *(f"slurm_partition_jobs_{word}" for word in ("pending", "running")),
    "slurm_slurmdbd_queue_size",
}


def test_what_a_release_of_slurm_lacks_is_described() -> None:
    """The default release is 25.11: without the words, a panel that is empty looks like a failure."""
    newer = [it for it in SLURM_METRICS if not {*re.findall(r"\bslurm_\w+", it.promql)} <= OF_25_11]
    assert [it.name for it in newer] == ["ultracluster_slurm_partition_gpus_in_jobs"]
    assert "26.05" in newer[0].help
    panels = [panel for row in SCHEDULER.rows.values() for panel in row if newer[0].name in str(panel.queries)]
    assert ["26.05" in panel.why for panel in panels] == [True]
