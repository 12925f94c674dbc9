"""Alerts that a cluster switches off or changes."""

import re
from pathlib import Path

import pytest

from support import ROOT, yaml12
from support.alert_cases import gpu
from support.rule_tests import firing_test, promtool
from ultracluster import clusterfile
from ultracluster.monitoring import cluster_rules
from ultracluster.monitoring.alerts import ALERTS, Tuning, rules
from ultracluster.monitoring.names import JOB_CAUSE

EXAMPLE = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
HOT = "GpuTemperatureHigh"


def alerts_of(text: str) -> dict[str, dict[str, object]]:
    groups = yaml12.load(text)["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}


def tuned_rules(alerts: str) -> str:
    cluster = clusterfile.loads(f"{EXAMPLE}observability: {{alerts: {alerts}}}\n", "tuned.yaml")
    return cluster_rules(cluster)["alerts.yaml"]


def tuned(alerts: str) -> dict[str, dict[str, object]]:
    return alerts_of(tuned_rules(alerts))


def problem_of(text: str, name: str) -> str:
    """The expression behind an alert on a node or a job, as it is recorded."""
    rules = [rule for group in yaml12.load(text)["groups"] for rule in group["rules"]]
    (expr,) = [rule["expr"] for rule in rules if "record" in rule and rule.get("labels", {}).get("problem") == name]
    return str(expr)


def test_the_cluster_file_changes_alerts_and_leaves_the_others() -> None:
    before = tuned("{runbooks: 'https://wiki.example.com/runbooks'}")
    text = tuned_rules(
        "{runbooks: 'https://wiki.example.com/runbooks', off: [JobIdleGpus], severity: {JobHung: warning}, "
        "thresholds: {JobHung: 0.5}, pending-period: {JobHung: 20 min}}"
    )
    after = alerts_of(text)
    assert set(before) - set(after) == {"JobIdleGpus"}
    assert {name for name in after if after[name] != before[name]} == {"JobHung"}
    hung = after["JobHung"]
    assert (hung["for"], hung["labels"]) == ("1200s", {"severity": "warning"})
    assert 'job:ultracluster_gpus_spinning:ratio{cluster="llama"} > 0.5' in problem_of(text, "JobHung")


def test_a_threshold_may_be_another_number_of_its_rule() -> None:
    text = tuned_rules("{thresholds: {JobHung: 0.1, StragglerEfa: 0.6}}")
    assert 'job:ultracluster_gpus_spinning:ratio{cluster="llama"} > 0.1' in problem_of(text, "JobHung")


def test_only_alerts_that_are_sent_as_critical_keep_alerts_of_their_job_silent() -> None:
    def causes(tuning: Tuning) -> set[str]:
        groups = yaml12.load(rules(tuning=tuning)["alerts.yaml"])["groups"]
        (expr,) = [rule["expr"] for group in groups for rule in group["rules"] if rule.get("record") == JOB_CAUSE]
        return set(re.findall(r"[A-Z]\w+", expr))

    critical = causes(Tuning())
    assert {"GpuXidFatal", "NodeLost", "GpuMissing"} <= critical
    # They stay beside jobs that run.
    assert not critical & {"HealthBreakerOpen", "GpuEccUncorrected", "EfaDeviceMissing"}
    changed = Tuning(off=("GpuMissing",), severity={"NodeLost": "warning", "GpuTemperatureHigh": "critical"})
    assert causes(changed) == critical - {"GpuMissing", "NodeLost"}


def test_the_nodes_of_a_file_system_alert_where_its_own_alert_is_off() -> None:
    """Their alerts wait for `ultracluster_node_mount_outage`, which is the reason of that one."""
    outage = re.compile(r"record: ['\"]?ultracluster_node_mount_outage\b")
    assert outage.search(rules()["recording.yaml"])
    assert not outage.search(rules(tuning=Tuning(off=("FileSystemUnavailable",)))["recording.yaml"])


def test_an_alert_that_is_off_leaves_no_problem_of_its_nodes() -> None:
    assert HOT in rules()["alerts.yaml"]
    assert HOT not in rules(tuning=Tuning(off=(HOT,)))["alerts.yaml"]


@pytest.mark.parametrize(("limit", "fires"), [(85, True), (92, False)])
def test_the_threshold_decides(tmp_path: Path, limit: float, fires: bool) -> None:
    for name, text in rules(tuning=Tuning(thresholds={HOT: limit}), cluster="llama").items():
        (tmp_path / name).write_text(text)
    test = firing_test(HOT, gpu("DCGM_FI_DEV_GPU_TEMP", "90x30"), [(20, fires)])
    promtool(tmp_path, [test], files=("recording.yaml", "alerts.yaml"))


@pytest.mark.parametrize("name", [name for name, alert in ALERTS.items() if alert.threshold is not None])
def test_each_threshold_can_be_replaced(name: str) -> None:
    alert = ALERTS[name]
    changed = alert.with_threshold(123456)
    assert changed.expr.count(" 123456") == 1
    assert changed.with_threshold(alert.threshold or 0).expr == alert.expr


@pytest.mark.parametrize("name", [name for name, alert in ALERTS.items() if alert.bounds is not None])
def test_one_bound_of_each_threshold_is_never_passed(name: str) -> None:
    alert = ALERTS[name]
    assert alert.bounds is not None
    low, high = alert.bounds.low, alert.bounds.high
    above = f"> {alert.threshold:.12g}" in alert.expr
    last, other = (high, low) if above else (low, high)
    assert alert.never(last) == f"{'>' if above else '<'} {last:.12g}"
    assert Tuning(thresholds={name: other}).thresholds == {name: other}
    with pytest.raises(ValueError, match="is never true"):
        Tuning(thresholds={name: last})


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ValueError, match=r"(?s)no alert 'JobHungs'; did you mean JobHung\?.*must be one of critical.*"
                       r"GpuMissing has no threshold.*JobSlow must be 1 to 100, got nan.*"
                       r"pending period of JobHung must be a number"):  # fmt: skip
        Tuning(
            off=("JobHungs",),
            thresholds={"GpuMissing": 1, "JobSlow": float("nan")},
            severity={"JobHung": "page"},
            pending_period={"JobHung": "soon"},
        )


@pytest.mark.parametrize(
    ("alerts", "message"),
    [
        ("{off: [JobHungs]}", "there is no alert 'JobHungs'; did you mean JobHung?"),
        ("{off: [Zzz9]}", "there is no alert 'Zzz9'; docs/reference/alerts.md lists them"),
        ("{thresholds: {GpuMissing: 1}}", "GpuMissing has no threshold to change"),
        (
            "{thresholds: {EfaDeviceSlow: 40}}",
            "EfaDeviceSlow must be 0 to 1, got 40: it is compared with a share; write 0.4 for 40 %",
        ),
        (
            "{thresholds: {GpuTemperatureHigh: 8700}}",
            "GpuTemperatureHigh must be 30 to 120 °C, got 8700: GPUs are warmer",
        ),
        ("{thresholds: {MountSlow: 10}}", "MountSlow must be 0.1 to 5 seconds, got 10: the check gives up after five"),
        ("{thresholds: {JobSlow: 0.15}}", "JobSlow must be 1 to 100, got 0.15: it is compared with a multiple"),
        (
            "{thresholds: {JobHung: 1}}",
            "the threshold of JobHung must be 0 to 1, got 1: it is compared with a share; `> 1` is never true",
        ),
        ("{thresholds: {InferenceCacheFull: 1}}", "InferenceCacheFull must be 0 to 1, got 1"),
        (
            "{thresholds: {NodeDiskFull: 0}}",
            "NodeDiskFull must be 0 to 1, got 0: it is compared with a share; `< 0` is",
        ),
        ("{thresholds: {StragglerClock: 0}}", "StragglerClock must be 0 to 1, got 0"),
        ("{thresholds: {JobGoodputLow: 0}}", "JobGoodputLow must be 0 to 1, got 0"),
        ("{thresholds: {MountSlow: 5}}", "five seconds; `> 5` is never true"),
        ("{thresholds: {JobHung: -1}}", "a threshold must be a number from 0"),
        ("{thresholds: {JobHung: .nan}}", "a threshold must be a number from 0"),
        ("{thresholds: {JobHung: true}}", "a threshold must be a number from 0"),
        ("{severity: {JobHung: page}}", "page"),
        ("{pending-period: {JobHung: 20}}", "needs a unit"),
        ("{off: ['x{y']}", "the name of an alert"),
    ],
)
def test_the_cluster_file_refuses_what_no_alert_has(alerts: str, message: str) -> None:
    with pytest.raises(clusterfile.ClusterFileError) as caught:
        tuned(alerts)
    assert message in str(caught.value)
