"""A Prometheus of one's own: the agent writes to it without AWS, and it takes the rules."""

import json
import subprocess
import urllib.parse
import urllib.request
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


def test_a_prometheus_of_ones_own_gets_the_samples_and_evaluates_the_rules(tmp_path: Path) -> None:
    receiver, agent = free_ports(2)
    to = RemoteWrite(url=f"http://127.0.0.1:{receiver}/api/v1/write")
    files = {
        file.path: file.text for file in node_collectors(P5, cluster="mine", group="train", efa_devices=32, to=to).files
    }
    assert "--region" not in files["/usr/local/sbin/ultracluster-collect-agent"]
    node = Node(tmp_path)
    node.says("metadata/instance-id", "i-0123456789abcdef0")
    node.says("metadata/availability-zone-id", "use2-az1")
    template = node.file("/template.yaml", files["/etc/ultracluster/metrics/agent.yaml"])
    written = tmp_path / "agent.yaml"
    arguments = ("--template", str(template), *to.arguments.split(), "--write", str(written))
    done = node.run("metrics-agent", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    written.write_text(written.read_text().replace('"30s"', '"1s"').replace('"10s"', '"1s"').replace('"15s"', '"1s"'))
    for name, text in rules(cluster="mine").items():
        (tmp_path / name).write_text(text.replace('interval: "30s"', 'interval: "1s"'))
    (tmp_path / "receiver.yaml").write_text("rule_files: [recording.yaml, alerts.yaml]\n")
    commands = (
        ("--config.file=receiver.yaml", "--web.enable-remote-write-receiver", "--storage.tsdb.path=received",
         f"--web.listen-address=127.0.0.1:{receiver}"),
        ("--enable-feature=agent", "--config.file=agent.yaml", "--storage.agent.path=sent",
         f"--web.listen-address=127.0.0.1:{agent}"),
    )  # fmt: skip
    # Prometheus 2.42 of Debian does not sign, and need not here.
    servers = [
        subprocess.Popen(["prometheus", *command], cwd=tmp_path, stderr=subprocess.DEVNULL) for command in commands
    ]
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
