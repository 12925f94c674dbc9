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
from ultracluster.metrics.reading import reads
from ultracluster.metrics.restricting import of_cluster


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


@pytest.mark.parametrize(("brought_by", "finds"), [("llama", True), ("other", False)])
def test_the_rules_that_a_cluster_brings_read_no_other_cluster(tmp_path: Path, brought_by: str, finds: bool) -> None:
    # Several clusters can be given one workspace: each brings its rules, perhaps of another release.
    for name, text in rules(Profile.FULL, cluster=brought_by).items():
        (tmp_path / name).write_text(text)
    series = {key: values for case in CASES.values() for key, values in case.fires[0].items()}
    made = 'count(count by (__name__) ({__name__=~"[a-z_]+:.+:.+"})) > bool 60'
    fired = 'count(count by (alertname) (ALERTS{alertname!="Watchdog"})) > bool 20'
    promtool(
        tmp_path,
        [
            {
                "interval": "1m",
                "input_series": [{"series": key, "values": values} for key, values in series.items()],
                "promql_expr_test": [
                    {"expr": expression, "eval_time": "25m",
                     "exp_samples": [{"labels": "{}", "value": 1}] if finds else []}
                    for expression in (made, fired)
                ],
            }
        ],
        files=("recording.yaml", "alerts.yaml"),
    )  # fmt: skip


@pytest.mark.parametrize("profile", list(Profile))
def test_no_selector_is_forgotten_and_nothing_else_is_changed(profile: Profile) -> None:
    whole, narrow = rules(profile, inventory=INVENTORY), rules(profile, inventory=INVENTORY, cluster="llama")
    for name, text in narrow.items():
        groups = zip(*(YAML(typ="safe").load(one)["groups"] for one in (whole[name], text)), strict=True)
        for before, after in groups:
            for old, new in zip(before["rules"], after["rules"], strict=True):
                bare = new["expr"].replace('{cluster="llama"}', "").replace('cluster="llama", ', "")
                assert bare == old["expr"]
                selected = re.sub(r'"[^"]*"|\b(?:by|on|group_left) \([^)]*\)', "", new["expr"])
                for metric in reads(old["expr"]):
                    assert set(re.findall(rf"(?<![\w:]){metric}(?![\w:])(.?)", selected)) == {"{"}, new


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("vector(1)", "vector(1)"),
        ("{job=~'x'}", "{cluster=\"c\", job=~'x'}"),
        ('sum by (a) (rate(x{y="}{"}[5m])) > 1.6e6', 'sum by (a) (rate(x{cluster="c", y="}{"}[5m])) > 1.6e6'),
        ("up offset 10m unless on (a) up{}", 'up{cluster="c"} offset 10m unless on (a) up{cluster="c"}'),
        ("a:b:c * on (d) group_left () vllm:e", 'a:b:c{cluster="c"} * on (d) group_left () vllm:e{cluster="c"}'),
        ("quantile without (a) (0.5, b) == bool time()", 'quantile without (a) (0.5, b{cluster="c"}) == bool time()'),
    ],
)
def test_a_selector_is_told_from_all_else(before: str, after: str) -> None:
    assert of_cluster(before, "c") == after


def test_rejects_an_inventory_that_is_no_inventory() -> None:
    with pytest.raises(ValueError, match=r"'a b' is no name .*; llama/train: -1 nodes expected"):
        rules(inventory={("a b", "train"): 1, ("llama", "train"): -1})
    with pytest.raises(ValueError, match="is no name of a cluster"):
        rules(cluster='a"} or {b="')


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
