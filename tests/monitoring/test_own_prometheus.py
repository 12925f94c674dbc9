"""A Prometheus of one's own: the agent writes to it without AWS, and it takes the rules."""

import json
import os
import subprocess
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from support.node_boot import Node
from support.ports import free_ports
from support.waiting import wait_until
from ultracluster.catalogue import ec2
from ultracluster.monitoring.alerts import rules
from ultracluster.monitoring.collectors import RemoteWrite, cluster_objects, node_collectors, node_objects

P5 = ec2.instance_type("p5.48xlarge")


def answer(port: int, query: str) -> list[dict[str, str]]:
    address = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(address, timeout=180) as page:
            return [item["metric"] for item in json.load(page)["data"]["result"]]
    except OSError:
        return []


def configure(directory: Path, to: RemoteWrite) -> None:
    """Write agent.yaml, as a node does, that scrapes each second."""
    files = {
        file.path: file.text for file in node_collectors(P5, cluster="mine", group="train", efa_devices=32, to=to).files
    }
    assert ("--region" in files["/usr/local/sbin/ultracluster-collect-agent"]) is (to.region is not None)
    node = Node(directory)
    node.says("metadata/instance-id", "i-0123456789abcdef0")
    node.says("metadata/availability-zone-id", "use2-az1")
    template = node.file("/template.yaml", files["/etc/ultracluster/metrics/agent.yaml"])
    written = directory / "agent.yaml"
    arguments = ("--template", str(template), *to.arguments.split(), "--write", str(written))
    done = node.run("metrics-agent", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    written.write_text(written.read_text().replace('"30s"', '"1s"').replace('"10s"', '"1s"').replace('"15s"', '"1s"'))


def start_agent(directory: Path, port: int, **environment: str) -> "subprocess.Popen[bytes]":
    command = (
        "--agent",
        "--config.file=agent.yaml",
        "--storage.agent.path=sent",
        f"--web.listen-address=127.0.0.1:{port}",
    )
    return subprocess.Popen(
        ["prometheus", *command], cwd=directory, stderr=subprocess.DEVNULL, env=os.environ | environment
    )


def test_a_prometheus_of_ones_own_gets_the_samples_and_evaluates_the_rules(tmp_path: Path) -> None:
    receiver, agent = free_ports(2)
    configure(tmp_path, RemoteWrite(url=f"http://127.0.0.1:{receiver}/api/v1/write"))
    for name, text in rules(cluster="mine").items():
        (tmp_path / name).write_text(text.replace('interval: "30s"', 'interval: "1s"'))
    (tmp_path / "receiver.yaml").write_text("rule_files: [recording.yaml, alerts.yaml]\n")
    command = (
        "--config.file=receiver.yaml", "--web.enable-remote-write-receiver", "--storage.tsdb.path=received",
        f"--web.listen-address=127.0.0.1:{receiver}",
    )  # fmt: skip
    target = subprocess.Popen(["prometheus", *command], cwd=tmp_path, stderr=subprocess.DEVNULL)
    # The agent ends first: it tries for a minute to send its last samples to one that is gone.
    servers = [start_agent(tmp_path, agent), target]
    try:
        # Nothing answers on the ports of the exporters, which the rules notice.
        wait_until("the rules see the node", lambda: bool(answer(receiver, "ultracluster_exporter_up == 0")), every=0.2)
        seen = answer(receiver, 'ultracluster_exporter_up{job="node"}')
        watchdog = answer(receiver, 'ALERTS{alertname="Watchdog"}')
    finally:
        for server in servers:
            server.terminate()
            server.wait(timeout=180)
    assert [(item["cluster"], item["group"], item["instance"]) for item in seen] == [
        ("mine", "train", "i-0123456789abcdef0")
    ]
    assert len(watchdog) == 1


def test_what_the_agent_of_a_node_sends_to_aws_is_signed(tmp_path: Path) -> None:
    headers: list[str] = []

    class Aws(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers.append(self.headers.get("Authorization", "none"))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Aws)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (port,) = free_ports(1)
    configure(tmp_path, RemoteWrite(url=f"http://127.0.0.1:{server.server_port}/", region="us-east-2"))
    agent = start_agent(tmp_path, port, AWS_ACCESS_KEY_ID="AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY="example")
    try:
        wait_until("the agent sends", lambda: bool(headers), every=0.2)
    finally:
        agent.terminate()
        agent.wait(timeout=180)
        server.shutdown()
        server.server_close()
    assert headers[0].startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
    assert "/us-east-2/aps/aws4_request" in headers[0]


def test_pods_write_to_it_too() -> None:
    to = RemoteWrite(url="https://prometheus.example.com/api/v1/write")
    objects = [
        *cluster_objects(cluster="mine", to=to),
        *node_objects(P5, cluster="mine", group="train", efa_devices=32, to=to, selector={"group": "train"}),
    ]
    text = json.dumps(objects)
    assert "https://prometheus.example.com/api/v1/write" in text
    assert "sigv4" not in text
    assert '"--region"' not in text
