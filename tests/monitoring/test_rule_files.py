"""Rule files and routes beside the alerts of the library, from the cluster file and as arguments."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import ROOT, yaml12
from ultracluster import clusterfile
from ultracluster.cli import app
from ultracluster.monitoring import alert_routes, cluster_rules
from ultracluster.monitoring.alerts import Route, alertmanager, rules, sns

EXAMPLE = (ROOT / "examples" / "slurm-512-gpus.yaml").read_text()
TOPIC = "arn:aws:sns:us-east-2:123456789012:nlp"
TEAM = """\
groups:
  - name: team
    rules:
      - alert: JobBelowTarget
        expr: ultracluster_job_mfu_ratio < 0.3
        for: 30m
        labels: {severity: warning, team: nlp}
"""


def cluster_of(directory: Path, section: str, **files: str) -> Path:
    for name, text in files.items():
        (directory / f"{name}.yaml").write_text(text)
    path = directory / "cluster.yaml"
    path.write_text(f"{EXAMPLE}observability: {section}\n")
    return path


def test_rule_files_beside_the_cluster_file_are_namespaces(tmp_path: Path) -> None:
    cluster = clusterfile.load(cluster_of(tmp_path, "{rules: [team.yaml]}", team=TEAM))
    assert cluster_rules(cluster).keys() == {"recording.yaml", "alerts.yaml", "team.yaml"}
    assert cluster_rules(cluster)["team.yaml"] == TEAM


@pytest.mark.parametrize(
    ("section", "text", "message"),
    [
        ("{rules: [other.yaml]}", TEAM, "observability.rules[0]: "),
        ("{rules: [team.yaml, team.yaml]}", TEAM, "team is the name of another namespace of the workspace"),
        ("{rules: [team.yaml]}", "groups: []", "team is no rule file"),
        ("{rules: [team.yaml]}", TEAM.replace("< 0.3", "<"), "JobBelowTarget: expr: column 29: unexpected end"),
        ("{rules: [team.yaml]}", TEAM.replace("ultracluster_job_mfu_ratio", "rate(x)"), "needs a range vector"),
        ("{rules: [team.yaml]}", TEAM.replace("30m", "30"), "has for: 30; write a duration such as 10m"),
        ("{rules: [team.yaml]}", TEAM.replace("mfu_ratio", "mfu_rati"), "did you mean ultracluster_job_mfu_ratio?"),
        ("{rules: [team.yaml]}", TEAM.replace("warning", "critcal"), "severity: critcal; it must be one of critical, "),
        ("{rules: [team.yaml]}", TEAM.replace("warning", "critcal"), "did you mean critical?"),
        ("{rules: [team.yaml]}", TEAM.replace("JobBelowTarget", "JobHung"), "the name of an alert of the library"),
        (
            "{rules: [team.yaml]}",
            TEAM.replace("alert: JobBelowTarget", "record: ultracluster_team_mfu"),
            "records a metric of the library",
        ),
        (
            "{rules: [team.yaml]}",
            TEAM.replace("alert: JobBelowTarget", "record: job:ultracluster_gpus:count"),
            "records a metric of the library",
        ),
        (
            "{rules: [team.yaml]}",
            TEAM.replace("job_mfu", "gpu_fp64_active"),
            "reads ultracluster_gpu_fp64_active_ratio, which is not collected with the profile standard; set "
            "observability: {profile: full}",
        ),
        (
            "{rules: [team.yaml], profile: basic}",
            TEAM.replace("ultracluster_job_mfu_ratio", "node_load1"),
            "reads node_load1, which is not collected with the profile basic; set observability: {profile: standard}",
        ),
        (
            "{rules: [team.yaml]}",
            TEAM.replace("ultracluster_job_mfu_ratio", "DCGM_FI_DEV_FAN_SPEED"),
            "reads DCGM_FI_DEV_FAN_SPEED, which is not collected",
        ),
        (
            "{routes: [{matchers: ['team=~\"(nlp\"']}]}",
            TEAM,
            "is no regular expression: missing ), unterminated subpattern",
        ),
        ("{routes: [{matchers: [team]}]}", TEAM, 'a matcher must be LABEL="VALUE"'),
        (
            "{routes: [{matchers: ['team=\"nlp\"'], topic: 'arn:aws:sns:us-west-2:123456789012:nlp'}]}",
            TEAM,
            "observability.routes[0].topic: the alert manager publishes to topics of us-east-2 only",
        ),
        (
            "{workspace: 'arn:aws:aps:us-east-2:123456789012:workspace/ws-01234567-89ab-cdef-0123-456789abcdef', "
            "routes: [{matchers: ['team=\"nlp\"']}]}",
            TEAM,
            "observability.routes: an existing workspace keeps its own alert manager",
        ),
        (
            "{routes: [{matchers: ['alertname=\"Watchdog\"']}]}",
            TEAM,
            "observability.routes[0].matchers[0]: the Watchdog has a receiver of its own",
        ),
        (
            f"{{alerts: {{topic: '{TOPIC}', watchdog: '{TOPIC}'}}}}",
            TEAM,
            "observability.alerts.watchdog: the topic of all alerts would get the Watchdog every five minutes",
        ),
    ],
)
def test_rejects_what_the_workspace_would_reject(tmp_path: Path, section: str, text: str, message: str) -> None:
    path = cluster_of(tmp_path, section, team=text)
    with pytest.raises(clusterfile.ClusterFileError) as error:
        clusterfile.load(path)
    assert message in str(error.value)


def test_a_rule_may_read_what_its_profile_collects(tmp_path: Path) -> None:
    text = TEAM.replace("ultracluster_job_mfu_ratio", "ultracluster_gpu_fp64_active_ratio + DCGM_FI_DEV_FAN_SPEED")
    clusterfile.load(cluster_of(tmp_path, "{rules: [team.yaml], profile: full}", team=text))


def test_check_asks_promtool_too(tmp_path: Path) -> None:
    # A template of Go, which only Prometheus parses.
    text = TEAM + "        annotations: {summary: '{{ $labels.team | nonsense }}'}\n"
    path = cluster_of(tmp_path, "{rules: [team.yaml]}", team=text)
    clusterfile.load(path)
    result = CliRunner().invoke(app, ["check", str(path)])
    assert (result.exit_code, 'function "nonsense" not defined' in result.output) == (1, True)
    cluster_of(tmp_path, "{rules: [team.yaml]}", team=TEAM)
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0


def test_check_reports_that_promtool_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = cluster_of(tmp_path, "{rules: [team.yaml]}", team=TEAM)
    assert "promtool" not in CliRunner().invoke(app, ["check", str(path)]).output
    monkeypatch.setattr("ultracluster.cli._rule_files.shutil.which", lambda _: None)
    assert "note: promtool is not on the path" in CliRunner().invoke(app, ["check", str(path)]).output
    assert json.loads(CliRunner().invoke(app, ["check", str(path), "--json"]).output)["promtool"] is False
    cluster_of(tmp_path, "{}", team=TEAM)
    assert "promtool" not in CliRunner().invoke(app, ["check", str(path)]).output


def test_a_route_is_before_the_severity(tmp_path: Path) -> None:
    section = f"{{routes: [{{matchers: ['team=\"nlp\"', 'severity!=\"info\"'], topic: '{TOPIC}', continue: true}}]}}"
    cluster = clusterfile.load(cluster_of(tmp_path, section))
    (route,) = alert_routes(cluster)
    assert route == Route(matchers=('team="nlp"', 'severity!="info"'), receiver=sns(TOPIC, "us-east-2"), continue_=True)
    # amtool has no receiver for PagerDuty's or SNS' settings of AMP.
    webhook = {"webhook_configs": [{"url": "http://127.0.0.1:1/"}]}
    texts = alertmanager(
        warning=webhook,
        critical=webhook,
        watchdog=webhook,
        routes=[
            Route(matchers=route.matchers, receiver=webhook, continue_=True),
            Route(matchers=('a=~"b|c"',), receiver={}),
        ],
    )
    file = tmp_path / "alertmanager.yaml"
    file.write_text(texts)
    for labels, receivers in (
        (["team=nlp", "severity=critical"], "route-1,critical"),
        (["team=nlp", "severity=info"], "nobody"),
        (["a=c", "severity=critical"], "route-2"),
        (["alertname=Watchdog", "team=nlp"], "watchdog"),
        (["severity=critical"], "critical"),
    ):
        command = ["amtool", "config", "routes", "test", f"--config.file={file}", *labels]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout.strip() == receivers, labels


def test_alerts_are_in_several_groups() -> None:
    groups = yaml12.load(rules()["alerts.yaml"])["groups"]
    assert [group["name"] for group in groups] == [f"alerts-{name}" for name in ("gpu", "node", "job", "cluster")]
    for group in groups:
        recorded = {json.dumps(rule["labels"]) for rule in group["rules"] if "labels" in rule and "record" in rule}
        read = {rule["alert"] for rule in group["rules"] if "alert" in rule and "_problem{" in rule["expr"]}
        assert recorded == {json.dumps({"problem": name}) for name in read}
