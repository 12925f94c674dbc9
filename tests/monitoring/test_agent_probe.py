"""Readiness of an agent on Kubernetes: the probe of its pod, against a real Prometheus and a workspace that refuses."""

import itertools
import os
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from support.ports import free_ports
from support.waiting import wait_until
from ultracluster.catalogue.ec2 import instance_type
from ultracluster.monitoring.collectors import RemoteWrite, cluster_objects, node_objects

TO = RemoteWrite(url="https://prometheus.example.com/api/v1/write")


class Workspace(BaseHTTPRequestHandler):
    """Answers remote write with the code that its server has."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts += 1  # type: ignore[attr-defined]
        self.send_response(self.server.code)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


AWKS = sorted(
    {str(Path(path).resolve()) for name in ("awk", "mawk", "gawk", "busybox") if (path := shutil.which(name))}
)


def agents() -> list[tuple[str, str]]:
    """The probe's command of each agent of the platform, and the directory where it keeps its file."""
    node: dict[str, Any] = {"cluster": "mine", "group": "train", "efa_devices": 32, "selector": {}}
    objects = [
        *node_objects(instance_type("p5.48xlarge"), to=TO, **node),
        *cluster_objects(cluster="mine", to=TO),
    ]
    result = []
    for item in objects:
        if item["kind"] in ("DaemonSet", "Deployment"):
            (agent,) = (each for each in item["spec"]["template"]["spec"]["containers"] if each["name"] == "agent")
            shell, option, script = agent["readinessProbe"]["exec"]["command"]
            assert (shell, option) == ("/bin/sh", "-c")
            (file,) = re.findall(r"file=(/\S+)/accepted", script)
            volumes = {volume["name"]: volume for volume in item["spec"]["template"]["spec"]["volumes"]}
            (mount,) = (each for each in agent["volumeMounts"] if each["mountPath"] == file)
            assert "emptyDir" in volumes[mount["name"]]
            result.append((script, file))
    return result


def test_an_agent_is_ready_only_while_the_workspace_accepts_new_samples(tmp_path: Path) -> None:
    workspace = HTTPServer(("127.0.0.1", 0), Workspace)
    workspace.code, workspace.posts = 403, 0  # type: ignore[attr-defined]
    threading.Thread(target=workspace.serve_forever, daemon=True).start()
    (port,) = free_ports(1)
    (tmp_path / "agent.yaml").write_text(
        f"""{{global: {{scrape_interval: 100ms, scrape_timeout: 100ms}},
scrape_configs: [{{job_name: own, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}],
remote_write: [{{url: 'http://127.0.0.1:{workspace.server_port}/', queue_config: {{batch_send_deadline: 100ms}}}}]}}"""
    )
    bin, clock = tmp_path / "bin", tmp_path / "clock"
    bin.mkdir()
    programs = {
        "wget": f"curl --silent --fail http://127.0.0.1:{port}/metrics",
        "date": f'echo $(($(/bin/date "$@") + $(cat {clock})))',
    }
    for name, text in programs.items():
        (bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (bin / name).chmod(0o755)
    script, file = agents()[0]

    def ready(after: int, awk: str = "awk") -> bool:
        """Run the probe some seconds from now, or rather as if."""
        clock.write_text(str(after))
        command = script.replace(file, str(tmp_path)).replace("| awk", f"| {awk}")
        path = f"{bin}:{os.environ['PATH']}"
        return subprocess.run(["/bin/sh", "-c", command], env={"PATH": path}, check=False).returncode == 0

    def posted(code: int) -> None:
        """Set the code of the answers, and wait for a few."""
        workspace.code = code  # type: ignore[attr-defined]
        until = workspace.posts + 4  # type: ignore[attr-defined]
        wait_until("the agent sends", lambda: workspace.posts >= until, every=0.1)  # type: ignore[attr-defined]

    assert not ready(0)
    command = ["prometheus", "--agent", "--config.file=agent.yaml", f"--web.listen-address=127.0.0.1:{port}"]
    agent = subprocess.Popen([*command, "--storage.agent.path=sent"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    later = itertools.count(400, 400)
    try:
        posted(403)
        assert not ready(0)
        for awk in AWKS:
            posted(204)
            wait_until("the agent is ready", lambda awk=awk: ready(0, awk), every=0.1)  # type: ignore[misc]
            assert ready(200, awk)
            # What was accepted before does not make it ready for ever. Samples that were pending are counted late.
            posted(403)
            wait_until("it is not ready", lambda awk=awk: not ready(next(later), awk))  # type: ignore[misc]
            (tmp_path / "accepted").unlink()
        posted(204)
        wait_until("the agent is ready", lambda: ready(0), every=0.1)
        posted(500)
        wait_until("it is not ready", lambda: not ready(next(later)))
        # Counters of an agent that starts again begin at zero: it is ready when its own samples are accepted.
        start, accepted, _ = (tmp_path / "accepted").read_text().split()
        (tmp_path / "accepted").write_text(f"{float(start) - 60:e} {int(accepted) + 10**9} 0\n")
        posted(204)
        wait_until("an agent that started again is ready", lambda: ready(0), every=0.1)
    finally:
        agent.terminate()
        agent.wait(timeout=180)
        workspace.shutdown()
        workspace.server_close()
    assert not ready(0)
    assert {script.replace(file, "DIR") for script, file in agents()} == {script.replace(file, "DIR")}
