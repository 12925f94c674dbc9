"""Every alert against real Prometheus rules: it fires, it stays silent, it clears."""

import re
import subprocess
from pathlib import Path

import pytest
from alert_cases import CASES, cluster, gpu, up
from ruamel.yaml import YAML
from rule_tests import INVENTORY, WORD, all_rules, promtool, told, written

from conftest import ROOT
from ultracluster.metrics import (
    ALERTS,
    FAMILIES,
    METRICS,
    OTHERS,
    Profile,
    RemoteWrite,
    agent_configuration,
    cluster_objects,
    kubernetes_scraping,
    rules,
    runbooks,
    slurm_scraping,
)
from ultracluster.metrics.alert import MOST_NODES
from ultracluster.metrics.fleet_names import SOURCES


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_alert_fires_stays_silent_and_clears(name: str, tmp_path: Path) -> None:
    written(tmp_path, name)
    case = CASES[name]
    tests = [
        told(name, case.fires[0], [(case.fires[1], True)]),
        told(name, case.silent[0], [(case.silent[1], False)]),
        told(name, case.clears[0], [(case.clears[1], True), (case.clears[2], False)]),
    ]
    promtool(tmp_path, tests)


def test_the_watchdog_always_fires(tmp_path: Path) -> None:
    # Its silence is its message, so it has nothing to be silent or to clear in.
    written(tmp_path, "Watchdog")
    promtool(tmp_path, [told("Watchdog", {}, [(0, True), (60, True)])])


def test_a_silent_source_is_told_of_where_there_was_one_and_for_a_day_at_most(tmp_path: Path) -> None:
    name, answers = "SourceSilent", up("1x1700", "node")
    written(tmp_path, name)
    # As the agent of a Kubernetes cluster labels what it asks: no node, and pods of Kueue's whose names change.
    labels = {"job": "kube-state-metrics", "instance": "127.0.0.1:8080"}
    state, queues = cluster("up", "1x29", **labels), cluster("up", "1x29", job="kueue", instance="10.0.0.1:8443")
    moved = cluster("up", "_x31 1x1700", job="kueue", instance="10.0.0.2:8443")
    gone = [(35, False), (45, True), (29 + 24 * 60 - 5, True), (1500, False)]
    agent_gone = told(name, answers | state | queues, gone)
    agent_gone["promql_expr_test"] += [
        {"expr": f'count(ALERTS{{alertname="{name}", job="{job}"}})', "eval_time": "45m",
         "exp_samples": [{"labels": "{}", "value": 1}]}
        for job in ("kube-state-metrics", "kueue")
    ]  # fmt: skip
    tests = [
        agent_gone,
        told(name, answers | state | queues | moved | cluster("up", "_x29 1x1700", **labels | {"cluster": "other"}),
             [(45, True), (1500, False)]),
        told(name, answers, [(45, False), (1500, False)]),
        # NoNodes says that nothing comes at all.
        told(name, up("1x29", "node") | state, [(45, False)]),
        # A node of another cluster makes this one's silence no fault.
        told(name, up("1x29", "node") | state | {next(iter(answers)).replace("llama", "other"): "1x90"}, [(45, False)]),
    ]  # fmt: skip
    promtool(tmp_path, tests)


def test_what_is_asked_once_for_a_cluster_has_the_names_by_which_its_silence_is_told() -> None:
    texts = [
        slurm_scraping("c", "10.0.0.1"),
        kubernetes_scraping("c"),
        agent_configuration(cluster="c", group="login", region="us-east-2", gpus=False, slurm=True),
        *(text for made in cluster_objects(cluster="c", to=RemoteWrite(region="us-east-2", url="https://x"))
          for text in made.get("data", {}).values()),
    ]  # fmt: skip
    asked = {job["job_name"] for text in texts for job in YAML(typ="safe").load(text)["scrape_configs"]}
    # Pods come and go; the other pages are the same controller's.
    assert asked - {"workloads", "node", "agent", "slurm-jobs", "slurm-partitions", "slurm-scheduler"} == set(SOURCES)


def test_no_alert_is_without_its_three_stories() -> None:
    assert set(CASES) == set(ALERTS) - {"Watchdog"}


def test_each_metric_reads_exporters_and_metrics_before_it() -> None:
    known: set[str] = set(OTHERS)
    for metric in METRICS.values():
        ours = {word for word in WORD.findall(metric.promql) if ":" in word and not word.startswith("vllm:")}
        assert ours <= known, f"{metric.name} reads {sorted(ours - known)}, which no rule before it makes"
        known.add(metric.name)
    assert len(METRICS) == sum(len(family) for family in FAMILIES.values())


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_alerts_read_only_metrics_of_ours_that_their_profile_has(name: str) -> None:
    alert = ALERTS[name]
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b[0-9.]+e[0-9]+|(by|on|group_left) \([^)]*\)", "", alert.expression)
    words = {word for word in WORD.findall(bare) if not re.search(rf"\b{word}\s*\(", bare)}
    read = words - {"and", "or", "unless", "Inf"}
    assert read or name == "Watchdog"
    for word in read:
        assert word in OTHERS or METRICS[word].profile <= alert.profile, word


def test_all_alerts_at_their_limit_at_once_are_fewer_than_amp_takes() -> None:
    # 1,000: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21)
    of_nodes = sum(alert.of_a_node for alert in ALERTS.values())
    assert of_nodes * MOST_NODES + len(ALERTS) - of_nodes < 1000


@pytest.mark.parametrize(("sick", "alerts", "value"), [(20, 20, 90), (21, 1, 21)])
def test_above_twenty_nodes_one_alert_says_how_many(tmp_path: Path, sick: int, alerts: int, value: int) -> None:
    name = "GpuTemperatureHigh"
    written(tmp_path, name)
    series = {
        key: values for number in range(sick) for key, values in gpu("DCGM_FI_DEV_GPU_TEMP", "90x30", number).items()
    }
    test = told(name, series, [(20, True)])
    expressions = {
        f'count(ALERTS{{alertname="{name}", alertstate="firing"}})': alerts,
        f"max({ALERTS[name].promql})": value,
    }
    test["promql_expr_test"] = [
        {"expr": expression, "eval_time": "20m", "exp_samples": [{"labels": "{}", "value": wanted}]}
        for expression, wanted in expressions.items()
    ]
    promtool(tmp_path, [test])


@pytest.mark.parametrize("profile", list(Profile))
def test_no_rule_of_a_profile_reads_what_the_profile_lacks(tmp_path: Path, profile: Profile) -> None:
    found = rules(profile, inventory=INVENTORY)
    made = set(OTHERS)
    for rule in all_rules(profile):
        ours = {word for word in WORD.findall(rule["expr"]) if word in METRICS}
        assert ours <= made, rule
        made |= {rule.get("record", "")}
    for name, text in found.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in found]
    done = subprocess.run(["promtool", "check", "rules", *files], capture_output=True)
    assert done.returncode == 0, done.stderr


def test_rejects_an_inventory_that_is_no_inventory() -> None:
    with pytest.raises(ValueError, match=r"'a b' is no name .*; llama/train: -1 nodes expected"):
        rules(inventory={("a b", "train"): 1, ("llama", "train"): -1})


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_every_alert_has_its_runbook(name: str) -> None:
    # Written by `make runbooks`.
    assert (ROOT / "docs" / "runbooks" / f"{name}.md").read_text() == ALERTS[name].page


def test_no_runbook_is_left_over_and_the_index_has_them_all() -> None:
    folder = ROOT / "docs" / "runbooks"
    assert {page.stem for page in folder.glob("*.md")} == set(ALERTS) | {"README"}
    assert (folder / "README.md").read_text() == runbooks.index()


def test_the_tables_of_the_docs_are_those_of_the_data() -> None:
    for name, mark, table in (
        ("metrics.md", "names", runbooks.names()),
        ("observability.md", "volume", runbooks.volumes()),
    ):
        page = (ROOT / "docs" / name).read_text()
        assert page == runbooks.filled(page, mark, table)
