"""Every alert against real Prometheus rules: it fires, it stays silent, it clears."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from support import ROOT, yaml12
from support.alert_cases import CASES, active, at_work, cluster, gpu, node, up
from support.rule_tests import INVENTORY, WORD, all_rules, firing_test, needed, promtool, written
from support.story_rules import giving, in_cluster, metrics, of_clusters, shortened
from ultracluster.monitoring.alerts import ALERTS, rules
from ultracluster.monitoring.alerts._alert import MOST_NODES, OF_ONE_CAUSE
from ultracluster.monitoring.alerts._alertmanager import ORDER_OF_A_JOB
from ultracluster.monitoring.alerts._causes import ENDS_A_JOB
from ultracluster.monitoring.alerts._restricting import of_cluster
from ultracluster.monitoring.collectors import RemoteWrite, cluster_objects, kubernetes_scraping, slurm_scraping
from ultracluster.monitoring.collectors._agent import agent_configuration
from ultracluster.monitoring.names import (
    FAMILIES,
    METRICS,
    NODE_CHECKS,
    PROBLEM,
    PROBLEM_DAY,
    PROBLEM_START,
    Metric,
    Profile,
)
from ultracluster.monitoring.names._all import OTHERS
from ultracluster.monitoring.names._fleet import SOURCES
from ultracluster.monitoring.names._metric import LEVELS
from ultracluster.monitoring.names._reading import reads

_SCRIPTS = ROOT / "constructs" / "ultracluster" / "boot" / "scripts"
_MOUNT_VALUES = ("mounted", "over_efa", "check_seconds", "last_success_timestamp_seconds")
_PLAIN = re.compile(r"ultracluster_\w+")
# What an aggregation does, as recording rules name it.
_OPERATIONS = {
    *("sum", "avg", "max", "count", "ratio", "p50", "p95", "p99", "rate5m", "rate15m", "avg10m", "avg1h"),
    "changes6h",
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_an_alert_fires_stays_silent_and_clears(name: str, tmp_path: Path) -> None:
    # As three clusters: nearly half of the time that a rule takes is there without a series.
    case = CASES[name]
    played = [case.fires[0], case.silent[0], case.clears[0]]
    # Most critical alerts read the problems of all others, which have no sample here.
    able = giving(needed(name), metrics(key for each in played for key in each))
    rules = [of for rule in able for of in of_clusters(dict.fromkeys(range(3), rule), 3, {})]
    series = {in_cluster(number, key): values for number, each in enumerate(played) for key, values in each.items()}
    groups = shortened([{"name": "one", "rules": rules}], series, max(case.fires[1], case.silent[1], case.clears[2]))
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": groups}))
    assert len(series) == sum(map(len, played))
    answers = [
        (0, case.fires[1], True),
        (1, case.silent[1], False),
        (2, case.clears[1], True),
        (2, case.clears[2], False),
    ]
    test = firing_test(name, series, [])
    for number, minute, fires in answers:
        (query,) = firing_test(name, {}, [(minute, fires)], cluster=str(number))["promql_expr_test"]
        test["promql_expr_test"].append(query)
    promtool(tmp_path, [test])


def test_an_alert_on_a_dead_node_has_its_name_to_the_end(tmp_path: Path) -> None:
    # Without the name it would be another alert: resolved, and sent again.
    written(tmp_path, "NodeLost")
    lost = up("1x9", "node", 1) | at_work("1x9", 1) | node("ultracluster_node_info", "1x9", 1, node="train-1")
    others = up("1x300", "node", 2) | at_work("1x300", 2)
    # Longer than two hours, and then the job computes without it.
    others |= active("0x210 0.5x5 0x90", 2, gpus=2)
    test = firing_test("NodeLost", lost | others, [(15, True), (205, True), (230, False)])
    query = 'count by (node) (ALERTS{alertname="NodeLost", alertstate="firing"})'
    named = [{"labels": '{node="train-1"}', "value": 1}]
    test["promql_expr_test"] += [
        {"expr": query, "eval_time": f"{minute}m", "exp_samples": named} for minute in (15, 68, 75, 100, 190, 205)
    ]
    promtool(tmp_path, [test])


def test_a_node_whose_text_file_never_came_or_is_unreadable_alerts(tmp_path: Path) -> None:
    # node_exporter 1.12.1 gives such a file no time, and its series are gone.
    name = "ultracluster_expected_gpus"
    mounts = node("node_textfile_mtime_seconds", "0+60x120", file="/var/lib/x/ultracluster_mounts.prom")
    written(tmp_path, "TextfileStale")
    broken = firing_test("TextfileStale", up("1x60", "node") | node(name, "8x19 _x20 8x20") | mounts,
                         [(18, False), (24, False), (32, True), (38, True), (46, False)])  # fmt: skip
    *_, rule = needed("TextfileStale")
    labels = {"cluster": "llama", "instance": "i-1", "instance_type": "p5.48xlarge", "zone": "use2-az1",
              "group": "train", "severity": "warning", "problem": "TextfileStale"}  # fmt: skip
    annotations = {
        "summary": "Health, EFA or mounts of node i-1 are missing or unreadable",
        "nodes": "",
        "runbook_url": rule["annotations"]["runbook_url"],
        "dashboard_url": "http://localhost:3000/d/ultracluster-node?var-cluster=llama&var-node=i-1",
    }
    expected = {"exp_labels": labels, "exp_annotations": annotations}
    broken["alert_rule_test"] = [{"eval_time": "32m", "alertname": "TextfileStale", "exp_alerts": [expected]}]
    # Another file, that of the mounts, cannot be parsed.
    unreadable = firing_test(
        "TextfileStale",
        up("1x60", "node") | node(name, "8x60") | node("node_textfile_scrape_error", "0x19 1x20 0x20"),
        [(18, False), (24, False), (32, True), (46, False)],
    )
    unreadable["alert_rule_test"] = [{"eval_time": "32m", "alertname": "TextfileStale", "exp_alerts": [expected]}]
    promtool(
        tmp_path,
        [
            broken,
            unreadable,
            firing_test("TextfileStale", up("1x60", "node"), [(3, False), (7, True)]),
            # Nodes without GPUs, silent nodes, and one whose exporter is down, which has an alert of its own.
            firing_test("TextfileStale", up("1x60", "node") | node(name, "0x60"), [(30, False)]),
            firing_test("TextfileStale", up("1x20", "node") | node(name, "8x20"), [(24, False), (40, False)]),
            firing_test("TextfileStale", up("0x60", "node"), [(30, False)]),
            # A node without a collector: the agent of the cluster scrapes others.
            firing_test("TextfileStale", cluster("up", "1x60", job="kube-state-metrics"), [(30, False)]),
            # The first minutes of a node.
            firing_test("TextfileStale", up("_x9 1x60", "node") | node(name, "_x12 8x60"), [(13, False), (20, False)]),
        ],
    )


def test_the_data_source_of_links_is_a_uid() -> None:
    with pytest.raises(ValueError, match=r"data_source must be 1 to 40 letters, digits, hyphens and underscores"):
        rules(data_source="a&b")


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("new", [1, 2])
def test_a_node_of_kubernetes_is_the_last_instance_with_its_name(tmp_path: Path, new: int, silent: bool) -> None:
    """A subnet gives addresses again, and names follow them; names are remembered for three hours."""
    written(tmp_path, "KubernetesNodeNotReady")
    end = 60 if silent else 120
    series: dict[str, str] = {}
    for number, seen in ((3 - new, "1x10"), (new, f"_x19 1x{end - 20}")):
        boot = seen.replace("1x", f"{1_700_000_000 + (100_000 if number == new else 0)}x")
        series |= node("ultracluster_node_info", seen, number, node="a") | up(seen, "node", number)
        series |= node("node_boot_time_seconds", boot, number)
    # Another node, whose boot is not known.
    series |= node("ultracluster_node_info", "1x120", 3, node="b")
    for name in "ab":
        series |= cluster("kube_node_status_condition", "0x69 1x50", condition="Ready", status="unknown", node=name)
    test = firing_test("KubernetesNodeNotReady", series, [(60, False), (100, True)])
    query = 'count by (instance) (ALERTS{alertname="KubernetesNodeNotReady", alertstate="firing"})'
    samples = [{"labels": f'{{instance="i-{number}"}}', "value": 1} for number in (new, 3)]
    test["promql_expr_test"] += [{"expr": query, "eval_time": "100m", "exp_samples": samples}]
    promtool(tmp_path, [test])


def test_lustre_traffic_of_a_node_is_that_of_all_its_mounts(tmp_path: Path) -> None:
    name = "ultracluster_lustre_write_bytes_total"
    # A pod that has written much ends, and another goes on.
    series = node(name, "5000000000000x10 _x30", filesystem="fs1", mount="ffff8881")
    series |= node(name, "0+60x40", filesystem="fs1", mount="ffff9990")
    rate = "node_filesystem:ultracluster_lustre_write_bytes:rate5m"
    written(tmp_path, rate)
    test = firing_test(rate, series, [])
    test["promql_expr_test"] = [
        {"expr": f"sum({rate})", "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": 1}]}
        for minute in (8, 12, 14, 20)
    ]
    promtool(tmp_path, [test])


@pytest.mark.parametrize("check", NODE_CHECKS)
def test_a_node_of_kubernetes_that_may_not_be_cordoned_fires_until_its_annotation_goes(
    tmp_path: Path, check: str
) -> None:
    name = "HealthBreakerOpen"
    written(tmp_path, name)
    bad = cluster(
        "kube_node_annotations", "1x15 _x40", node="a", **{f"annotation_ultracluster_breaker_{check}": "open"}
    )
    promtool(tmp_path, [firing_test(name, bad, [(10, True), (30, False)])])
    # It takes no jobs while somebody has cordoned it.
    cordoned = cluster("kube_node_spec_unschedulable", "0x5 1x50", node="a")
    promtool(tmp_path, [firing_test(name, bad | cordoned, [(4, True), (12, False)])])


def test_the_watchdog_always_fires(tmp_path: Path) -> None:
    # Its silence is its message, so it has nothing to be silent or to clear in.
    written(tmp_path, "Watchdog")
    promtool(tmp_path, [firing_test("Watchdog", {}, [(0, True), (60, True)])])


def test_a_silent_source_alerts_for_a_day_if_it_was_there(tmp_path: Path) -> None:
    name, answers = "SourceSilent", up("1x1700", "node")
    written(tmp_path, name)
    # As the agent of a Kubernetes cluster labels what it asks: no node, and pods of Kueue's whose names change.
    labels = {"job": "kube-state-metrics", "instance": "127.0.0.1:8080"}
    state, queues = cluster("up", "1x29", **labels), cluster("up", "1x29", job="kueue", instance="10.0.0.1:8443")
    moved = cluster("up", "_x31 1x1700", job="kueue", instance="10.0.0.2:8443")
    gone = [(35, False), (45, True), (29 + 24 * 60 - 5, True), (1500, False)]
    agent_gone = firing_test(name, answers | state | queues, gone)
    agent_gone["promql_expr_test"] += [
        {"expr": f'count(ALERTS{{alertname="{name}", job="{job}"}})', "eval_time": "45m",
         "exp_samples": [{"labels": "{}", "value": 1}]}
        for job in ("kube-state-metrics", "kueue")
    ]  # fmt: skip
    tests = [
        agent_gone,
        firing_test(name,
                    answers | state | queues | moved | cluster("up", "_x29 1x1700", **labels | {"cluster": "other"}),
             [(45, True), (1500, False)]),
        firing_test(name, answers, [(45, False), (1500, False)]),
        # NoNodes says that nothing comes at all.
        firing_test(name, up("1x29", "node") | state, [(45, False)]),
        # A node of another cluster makes this one's silence no fault.
        firing_test(name, up("1x29", "node") | state | {next(iter(answers)).replace("llama", "other"): "1x90"},
                    [(45, False)]),
    ]  # fmt: skip
    promtool(tmp_path, tests)


def test_cluster_scrape_jobs_have_the_names_in_the_alert() -> None:
    texts = [
        slurm_scraping("c", "10.0.0.1"),
        kubernetes_scraping("c"),
        agent_configuration(cluster="c", group="login", region="us-east-2", gpus=False, slurm=True),
        *(text for created in cluster_objects(cluster="c", to=RemoteWrite(region="us-east-2", url="https://x"))
          for text in created.get("data", {}).values()),
    ]  # fmt: skip
    requested = {job["job_name"] for text in texts for job in yaml12.load(text)["scrape_configs"]}
    # Pods come and go; the other pages are the same controller's.
    assert requested - {"workloads", "node", "agent", "slurm-jobs", "slurm-partitions", "slurm-scheduler"} == set(
        SOURCES
    )


def test_no_alert_is_without_its_three_stories() -> None:
    # The first always fires, and the second takes days: both have tests of their own.
    assert set(CASES) == set(ALERTS) - {"Watchdog", "NodeLemon"}


def test_a_node_with_a_new_fault_on_three_days_of_14_is_a_lemon_until_it_is_replaced(tmp_path: Path) -> None:
    # Steps of four minutes, and the starts of its alerts as input: all rules for so long would take minutes.
    wanted = {"NodeLemon", PROBLEM_DAY}
    rules = [
        rule
        for rule in all_rules()
        if {rule.get("alert"), rule.get("record"), rule.get("labels", {}).get("problem")} & wanted
        or (rule.get("record") == PROBLEM and "NodeLemon" in rule["expr"])
    ]
    assert len(rules) == 4
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": rules}]}))

    def starts(instance: str, hours: list[float], lasts: float = 0.5, **labels: str) -> dict[str, str]:
        """An alert that begins at each of the hours, and lasts for some."""
        values, at = "", 0
        for hour in hours:
            step = round(hour * 15)
            values += f"_x{step - at} {step * 240}x{round(lasts * 15) - 1} "
            at = step + round(lasts * 15)
        return cluster(PROBLEM_START, values, instance=instance, **{"problem": "GpuMissing", **labels})

    day = 24.0
    series = {
        **starts("i-lemon", [10, day + 23.9, 4 * day + 0.1, 4 * day + 3]),
        # Three times on two days, one fault that lasts for four, mounts, and what is held back beside another alert.
        **starts("i-twice", [10, 12, 4 * day + 3]),
        **starts("i-long", [10], lasts=4 * day),
        **starts("i-mounts", [10, 40, 90], problem="NodeUnhealthy", check="mounts"),
        **starts("i-open", [10, 40, 90], problem="HealthBreakerOpen"),
        # Beside an alert that lasts.
        **starts("i-beside", [10], lasts=5 * day, problem="GpuXidReset"),
        **starts("i-beside", [40, 90], problem="NodeUnhealthy", check="devices"),
        # Replaced after the third.
        **starts("i-gone", [10, 40, 90]),
    }
    for instance in ("i-lemon", "i-twice", "i-long", "i-mounts", "i-open", "i-beside", "i-gone"):
        series |= cluster("ultracluster_node_up", "1x1900" if instance == "i-gone" else "1x2000", instance=instance)
    lemon = [{"labels": f'{{instance="{instance}"}}', "value": 1} for instance in ("i-lemon", "i-beside")]
    gone = [*lemon, {"labels": '{instance="i-gone"}', "value": 1}]
    answers = {"95h": [], "121h": gone, "130h": lemon}
    query = 'count by (instance) (ALERTS{alertname="NodeLemon", alertstate="firing"})'
    test = {
        "interval": "4m",
        "input_series": [{"series": key, "values": values} for key, values in series.items()],
        "promql_expr_test": [{"expr": query, "eval_time": at, "exp_samples": exp} for at, exp in answers.items()],
    }
    promtool(tmp_path, [test], evaluation_interval="4m")


def test_each_metric_reads_exporters_and_metrics_before_it() -> None:
    known: set[str] = set(OTHERS)
    written = set(_PLAIN.findall("".join(path.read_text() for path in _SCRIPTS.glob("*.sh"))))
    # The scripts compose these.
    written |= {f"ultracluster_lustre_{kind}_bytes_total" for kind in ("read", "write")}
    written |= {f"ultracluster_mount_{value}" for value in _MOUNT_VALUES}
    for metric in METRICS.values():
        recorded = {
            word
            for word in WORD.findall(re.sub(r"\[[^]]*\]", "", metric.promql))  # without ranges
            if (":" in word and not word.startswith(("vllm:", "sglang:")))
            or (_PLAIN.fullmatch(word) and word not in written)
        }
        unknown = sorted(recorded - known - {metric.name})
        assert unknown == [], f"{metric.name} reads what no rule before it writes"
        known.add(metric.name)
    assert len(METRICS) == sum(len(family) for family in FAMILIES.values())


_SUFFIXES = {"bool": "", "code": "", "count": "", "number": "", "gb_per_s": "", "info": "_info"}


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_names_follow_the_conventions_of_prometheus(metric: Metric) -> None:
    assert metric.help.endswith(".")
    if ":" in metric.name:
        level, name, operations = metric.name.split(":")
        assert metric.labels == LEVELS[level]
        assert re.fullmatch("[a-z0-9_]+", name)
        assert set(operations.split("_")) <= _OPERATIONS, operations
        assert not name.endswith("_total")
    else:
        suffix = _SUFFIXES.get(metric.unit, f"_{metric.unit}") + ("_total" if metric.counter else "")
        assert re.fullmatch(rf"ultracluster_[a-z0-9_]+{suffix}", metric.name)


def test_promtool_accepts_the_plain_names() -> None:
    lines = []
    for metric in METRICS.values():
        if ":" not in metric.name:
            kind = "counter" if metric.counter else "gauge"
            lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {kind}", f"{metric.name} 0"]
    text = "\n".join(lines) + "\n"
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_alerts_read_only_recorded_metrics_of_their_profile(name: str) -> None:
    alert = ALERTS[name]
    read = reads(alert.expr)
    assert read or name == "Watchdog"
    for word in read:
        assert word in OTHERS or METRICS[word].profile <= alert.profile, word


def test_alerts_of_one_cause_are_critical_alerts_of_a_node_or_of_a_job() -> None:
    assert ENDS_A_JOB <= set(OF_ONE_CAUSE) <= ALERTS.keys()
    assert all(ALERTS[name].of_one_cause and ALERTS[name].for_ != "0m" for name in OF_ONE_CAUSE[1:])
    assert all(ALERTS[name].severity == "critical" and ALERTS[name].per_job for name in ORDER_OF_A_JOB)
    # Others of a node would be a second message for the same cause.
    alone = {name for name, alert in ALERTS.items() if alert.per_node and alert.severity == "critical"}
    assert alone == set(OF_ONE_CAUSE)


def test_all_alerts_at_their_limit_at_once_are_fewer_than_amp_takes() -> None:
    # 1,000: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-26)
    most = {name: alert._most + 1 if alert.per_node or alert.per_job else 1 for name, alert in ALERTS.items()}
    assert most["GpuMissing"] == MOST_NODES + 1
    # A cluster has one scheduler: the boot of Slurm's nodes installs software and checks mounts.
    slurm = most["SoftwareMissing"] + most["MountSlow"]
    kubernetes = most["AcceleratorUnhealthy"] + most["KubernetesNodeNotReady"]
    assert sum(most.values()) - min(slurm, kubernetes) < 1000


@pytest.mark.parametrize(("sick", "alerts", "value"), [(20, 20, 90), (21, 21, 90), (95, 21, 95)])
def test_above_a_number_of_nodes_as_many_keep_their_alert_and_one_has_the_number(
    tmp_path: Path, sick: int, alerts: int, value: int
) -> None:
    name = "GpuTemperatureHigh"
    written(tmp_path, name)
    series = _hot(sick)
    test = firing_test(name, series, [(20, True)])
    expressions = {
        f'count(ALERTS{{alertname="{name}", alertstate="firing"}})': alerts,
        f"max({ALERTS[name].promql})": value,
    }
    test["promql_expr_test"] = [
        {"expr": expression, "eval_time": "20m", "exp_samples": [{"labels": "{}", "value": wanted}]}
        for expression, wanted in expressions.items()
    ]
    promtool(tmp_path, [test])


def test_the_expression_of_a_problem_is_evaluated_once() -> None:
    each = [
        rule["expr"] for text in rules().values() for group in yaml12.load(text)["groups"] for rule in group["rules"]
    ]
    for alert in ALERTS.values():
        # That of another alert may have it in it.
        others = sum(other.expr.count(alert.expr) for other in ALERTS.values())
        assert sum(expr.count(alert.expr) for expr in each) == others, alert.name
    # Once in each group, and not in each rule.
    assert sum("topk by (cluster, instance) (1, ultracluster_node_name_info" in expr for expr in each) == 4


def test_nodes_of_kubernetes_on_one_instance_keep_their_names_and_the_other_problems_theirs(tmp_path: Path) -> None:
    # A new instance that EC2 gave the name of a node that was renamed: both names are of it for three hours.
    names = ("HealthBreakerOpen", "NodeDiskFull")
    rules = [rule for rule in all_rules() if any(rule in needed(name) for name in names)]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": rules}]}))
    series = {
        **node("ultracluster_node_info", "1x10", node="a"),
        **node("ultracluster_node_info", "_x10 1x60", node="b"),
        **CASES["NodeDiskFull"].fires[0],
        **cluster("kube_node_annotations", "1x70", annotation_ultracluster_breaker_dcgm="open", node="a"),
        **cluster("kube_node_annotations", "1x70", annotation_ultracluster_breaker_dcgm="open", node="b"),
    }
    query = f'count by (instance, problem, node) ({PROBLEM}{{problem="HealthBreakerOpen"}})'
    named = f'count by (instance, problem) ({PROBLEM}{{problem="NodeDiskFull", node=~"a|b"}})'
    test = firing_test("HealthBreakerOpen", series, [(20, True)])
    test["promql_expr_test"] += [
        {"expr": query, "eval_time": "20m", "exp_samples": [
            {"labels": f'{{instance="i-1", problem="HealthBreakerOpen", node="{name}"}}', "value": 1}
            for name in "ab"
        ]},
        {"expr": named, "eval_time": "20m", "exp_samples": [
            {"labels": '{instance="i-1", problem="NodeDiskFull"}', "value": 1}
        ]},
    ]  # fmt: skip
    promtool(tmp_path, [test])


def test_the_alert_for_many_nodes_has_the_names_of_all(tmp_path: Path) -> None:
    name, sick = "GpuTemperatureHigh", 30
    (*recording, alert) = needed(name)
    # The others, of a node each, are in the test above.
    alert["expr"] = alert["expr"].partition(" or ")[2]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": [*recording, alert]}]}))
    # One has reported no name.
    named = {
        key: values
        for number in range(1, sick)
        for key, values in node("ultracluster_node_info", "1x30", number, node=f"train-{number:02}").items()
    }
    names = " ".join(["i-0", *(f"train-{number:02}" for number in range(1, sick))])
    annotations = {
        "summary": f"{name}: {sick} nodes, of which {MOST_NODES} have an alert each",
        "nodes": f"{names} ",
        "runbook_url": alert["annotations"]["runbook_url"],
        "dashboard_url": "http://localhost:3000/d/ultracluster-node?var-cluster=llama&var-node=",
    }
    expected = {"exp_labels": {"cluster": "llama", "severity": "warning"}, "exp_annotations": annotations}
    test = firing_test(name, _hot(sick) | named, [])
    test["alert_rule_test"] = [{"eval_time": "20m", "alertname": name, "exp_alerts": [expected]}]
    promtool(tmp_path, [test])


def _hot(number: int) -> dict[str, str]:
    """A GPU of each of so many nodes is hot."""
    each = (gpu("DCGM_FI_DEV_GPU_TEMP", "90x30", index) for index in range(number))
    return {key: values for series in each for key, values in series.items()}


@pytest.mark.parametrize("profile", list(Profile))
def test_no_rule_of_a_profile_reads_what_the_profile_lacks(tmp_path: Path, profile: Profile) -> None:
    result = rules(profile, inventory=INVENTORY)
    created = set(OTHERS)
    for rule in all_rules(profile):
        expected = {word for word in WORD.findall(rule["expr"]) if word in METRICS}
        assert expected - {rule.get("record")} <= created, rule
        created |= {rule.get("record", "")}
    for name, text in result.items():
        (tmp_path / name).write_text(text)
    files = [tmp_path / name for name in result]
    done = subprocess.run(["promtool", "check", "rules", *files], capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("brought_by", "finds"), [("llama", True), ("other", False)])
def test_the_rules_that_a_cluster_brings_read_no_other_cluster(tmp_path: Path, brought_by: str, finds: bool) -> None:
    # Several clusters can be given one workspace: each brings its rules, perhaps of another release.
    for name, text in rules(Profile.FULL, cluster=brought_by).items():
        (tmp_path / name).write_text(text)
    series = {key: values for case in CASES.values() for key, values in case.fires[0].items()}
    recorded = f'count(count by (__name__) ({{__name__=~"{"|".join(METRICS)}"}})) > bool 60'
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
                    for expression in (recorded, fired)
                ],
            }
        ],
        files=("recording.yaml", "alerts.yaml"),
    )  # fmt: skip


@pytest.mark.parametrize("profile", list(Profile))
def test_no_selector_is_forgotten_and_nothing_else_is_changed(profile: Profile) -> None:
    whole, narrow = rules(profile, inventory=INVENTORY), rules(profile, inventory=INVENTORY, cluster="llama")
    for name, text in narrow.items():
        groups = zip(*(yaml12.load(item)["groups"] for item in (whole[name], text)), strict=True)
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
def test_only_selectors_are_narrowed(before: str, after: str) -> None:
    assert of_cluster(before, "c") == after


def test_rejects_an_inventory_that_is_no_inventory() -> None:
    with pytest.raises(ValueError, match=r"(?s)'a b' is not a valid name .*llama/train: -1 nodes expected"):
        rules(inventory={("a b", "train"): 1, ("llama", "train"): -1})
    with pytest.raises(ValueError, match="is not a valid name of a cluster"):
        rules(cluster='a"} or {b="')
