"""Incidents: a real Alertmanager, and a server with PagerDuty's address that keeps what it is sent."""

import json
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.ports import free_ports, listens_at
from support.waiting import wait_until
from ultracluster.monitoring.alerts import alertmanager, pagerduty

pytestmark = pytest.mark.daemons

_SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:pager-AbCdEf"


@pytest.fixture
def events() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Address of the server, and the bodies of its requests."""
    kept: list[dict[str, Any]] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(202)
            self.end_headers()
            self.wfile.write(b'{"status": "success"}')

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/", kept
    server.shutdown()
    server.server_close()


@pytest.fixture
def address(tmp_path: Path, events: tuple[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Address of an Alertmanager with the library's routes."""
    url, _ = events
    topic = {"webhook_configs": [{"send_resolved": True, "url": url}]}
    configuration = YAML(typ="safe").load(alertmanager(warning=topic, critical={**topic, **pagerduty(_SECRET)}))
    for route in configuration["route"]["routes"]:
        route |= {name: "1s" for name in ("group_wait", "group_interval") if name in route}
    for receiver in configuration["receivers"]:
        for incident in receiver.get("pagerduty_configs", []):
            # AMP reads the key from the secret.
            incident |= {"routing_key": "0" * 32, "url": url}
    file = tmp_path / "alertmanager.yaml"
    file.write_text(json.dumps(configuration))
    (port,) = free_ports(1)
    command = [shutil.which("alertmanager") or "prometheus-alertmanager", f"--config.file={file}"]
    command += [f"--storage.path={tmp_path / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--cluster.listen-address="], stdout=log, stderr=log)
        wait_until("Alertmanager", lambda: listens_at(port), detail=(tmp_path / "log").read_text)
        yield f"http://127.0.0.1:{port}/api/v2/alerts"
        process.terminate()
        process.wait()


def fire(address: str, node: str, **labels: str) -> None:
    """Send an alert on a node."""
    labels = {"alertname": "GpuXidFatal", "severity": "critical", "cluster": "llama", "instance": node, **labels}
    annotations = {"summary": f"XID 79 on {node}", "runbook_url": "https://runbooks/GpuXidFatal.md"}
    body = json.dumps([{"labels": labels, "annotations": annotations}]).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).close()


def test_each_node_opens_an_incident_that_names_it(address: str, events: tuple[str, list[dict[str, Any]]]) -> None:
    _, kept = events

    def incidents() -> dict[str, dict[str, Any]]:
        return {event["dedup_key"]: event["payload"] for event in kept if event.get("event_action") == "trigger"}

    # Two GPUs of a node are one incident; the next node, while the first one is open, is another.
    fire(address, "i-1", gpu="0")
    fire(address, "i-1", gpu="1")
    wait_until("the first incident", lambda: len(incidents()) == 1)
    fire(address, "i-2", gpu="0")
    wait_until("the second incident", lambda: len(incidents()) == 2)
    titles = {payload["summary"] for payload in incidents().values()}
    assert titles == {"GpuXidFatal llama: XID 79 on i-1", "GpuXidFatal llama: XID 79 on i-2"}
    details = [payload["custom_details"] for payload in incidents().values()]
    assert {item["runbook"] for item in details} == {"https://runbooks/GpuXidFatal.md"}
    # The messages to a topic are about all nodes with the alert.
    messages = [event for event in kept if "alerts" in event]
    assert {message["groupKey"] for message in messages} == {messages[0]["groupKey"]}
    wait_until("the message", lambda: any(len(event["alerts"]) == 3 for event in kept if "alerts" in event))


def test_a_rack_is_one_incident_for_each_job_and_each_lost_job_pages(
    address: str, events: tuple[str, list[dict[str, Any]]]
) -> None:
    _, kept = events
    for number in range(18):
        fire(address, f"i-{number}", alertname="NodeLost", job_id="7")
    fire(address, "i-18", alertname="NodeLost", job_id="8")
    # The second is lost while the first incident is open: in one incident, nobody would be notified of it.
    fire(address, "", alertname="JobLost", job_id="1")
    wait_until("the incident of a job", lambda: any("JobLost" in str(event.get("payload")) for event in kept))
    fire(address, "", alertname="JobLost", job_id="2")

    def incidents() -> list[str]:
        numbers = {
            event["dedup_key"]: event["payload"]["custom_details"]["num_firing"]
            for event in kept
            if event.get("event_action") == "trigger"
        }
        return sorted(numbers.values())

    wait_until("the incidents with all alerts", lambda: incidents() == ["1", "1", "1", "18"])
    wait_until("the messages", lambda: len({event["groupKey"] for event in kept if "alerts" in event}) == 2)
