"""Rules and silences of docs/guides/monitoring.md are accepted by Prometheus, AMP and Alertmanager."""

import json
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

from ruamel.yaml import YAML

from support import ROOT
from support.ports import free_ports
from support.waiting import wait_until
from ultracluster.monitoring.alerts import alertmanager, sns
from ultracluster.monitoring.alerts._alert import Severity
from ultracluster.monitoring.alerts._rule_check import rule_problems
from ultracluster.monitoring.names import METRICS

PAGE = (ROOT / "docs" / "guides" / "monitoring.md").read_text()


def block(language: str, start: str) -> str:
    (text,) = [
        block for block in re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if start in block
    ]
    return str(text)


def test_prometheus_and_amp_accept_the_added_rules(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text(block("yaml", "groups:\n"))
    done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True)
    assert "1 rules found" in done.stdout, done.stderr
    assert list(rule_problems({"team": block("yaml", "groups:\n")})) == []


def test_the_added_alert_reads_a_known_metric_and_has_a_route() -> None:
    (rule,) = YAML(typ="safe").load(block("yaml", "groups:\n"))["groups"][0]["rules"]
    assert rule["expr"].split()[0] in METRICS
    assert rule["labels"]["severity"] in {Severity.WARNING, Severity.CRITICAL}


def test_alertmanager_accepts_and_ends_the_silence(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(alertmanager(warning=sns("arn:aws:sns:us-east-2:123456789012:x", "us-east-2")))
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/api/v2"
    command = [
        shutil.which("alertmanager") or "prometheus-alertmanager",
        f"--config.file={tmp_path / 'c.yaml'}",
        f"--storage.path={tmp_path}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            wait_until("Alertmanager answers", lambda: answers(url + "/status"))
            # Alertmanager takes none whose end is past, and the page is read for years.
            silence = json.loads(block("json", "startsAt")) | {"endsAt": "2126-12-01T18:00:00Z"}
            id = json.loads(asked("POST", url + "/silences", json.dumps(silence)))["silenceID"]
            (there,) = json.loads(asked("GET", url + "/silences"))
            assert there["matchers"] == silence["matchers"]
            asked("DELETE", f"{url}/silence/{id}")
            (there,) = json.loads(asked("GET", url + "/silences"))
            assert there["status"]["state"] == "expired"
        finally:
            process.terminate()


def asked(method: str, url: str, body: str | None = None) -> bytes:
    data = None if body is None else body.encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=180) as answer:
        body_read: bytes = answer.read()
        return body_read


def answers(url: str) -> bool:
    try:
        asked("GET", url)
    except OSError:
        return False
    return True
