"""Draw what the dashboard Job shows of the training program on CPUs: `python -m support.training_on_dashboard PNG`.

Two processes train for nine minutes; one is killed, and a checkpoint is requested, as a time limit does. A real
Prometheus with the configuration and the rules of a node scrapes what the run writes, with the label of its job.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ruamel.yaml import YAML

from support.dashboard_preview import Preview
from support.ports import free_ports
from support.training import BIN, ENVIRONMENT, PYTHONPATH, SMALL
from ultracluster.monitoring.alerts import rules
from ultracluster.monitoring.collectors._agent import agent_configuration
from ultracluster.monitoring.dashboards import DASHBOARDS
from ultracluster.monitoring.names import Profile

_NAME, _GROUP, _JOB = "llama", "train", "7"
_SECONDS, _KILLED, _ASKED = 540, 180, 360
# A step of the small model takes milliseconds.
_PROGRAM = """\
import sys, time
import ultracluster_train as program
step = program.Training.train_step
program.Training.train_step = lambda training: (time.sleep(0.9), step(training))[1]
sys.exit(program.main(sys.argv[1:]))
"""


def page(directory: Path) -> str:
    """Return the lines of a job with its label, as a node reports them."""
    file = directory / "train.prom"
    lines = [line for line in file.read_text().splitlines() if line[:1] != "#"] if file.exists() else []
    label = f'job_id="{_JOB}"'
    return "".join(
        re.sub(r"^(\w+)\{", rf"\1{{{label},", line) + "\n"
        if "{" in line
        else f"{line.replace(' ', f'{{{label}}} ', 1)}\n"
        for line in lines
    )


def _serve(directory: Path) -> int:
    class Node(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page(directory).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def _prometheus(directory: Path, target: int, port: int) -> subprocess.Popen[bytes]:
    text = agent_configuration(cluster=_NAME, group=_GROUP, region="us-east-2", gpus=True, profile=Profile.STANDARD)
    configuration = YAML(typ="safe").load(text)
    del configuration["remote_write"]
    (node,) = (job for job in configuration["scrape_configs"] if job["job_name"] == "node")
    for key in ("metrics_path", "relabel_configs"):
        node.pop(key, None)
    labels = {"cluster": _NAME, "group": _GROUP, "instance": "train-1", "instance_type": "p5.4xlarge"}
    node["static_configs"] = [{"targets": [f"127.0.0.1:{target}"], "labels": labels}]
    files = rules(Profile.STANDARD, inventory={(_NAME, _GROUP): 2}, cluster=_NAME)
    for name, content in files.items():
        (directory / name).write_text(content)
    configuration |= {"scrape_configs": [node], "rule_files": [str(directory / name) for name in files]}
    configuration["global"] = {"scrape_interval": "5s", "evaluation_interval": "15s"}
    (directory / "prometheus.yaml").write_text(json.dumps(configuration))
    options = (f"--config.file={directory}/prometheus.yaml", f"--storage.tsdb.path={directory}/data")
    return subprocess.Popen(
        ["prometheus", *options, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    )


def _train(directory: Path, run: Path) -> None:
    (directory / "train.py").write_text(_PROGRAM)
    environment = {
        **os.environ,
        **ENVIRONMENT,
        "PYTHONPATH": PYTHONPATH,
        "ULTRACLUSTER_JOB_METRICS": str(directory),
        "ULTRACLUSTER_JOB_STATE": str(run / "state.json"),
        "ULTRACLUSTER_GPU_FLOPS": "1e12",
        # As the job files do.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        "CHECKPOINT_REQUEST": str(run / "request"),
    }
    command = [str(BIN / "torchrun"), "--nproc-per-node=2", "--max-restarts=3"]
    command += ["--nnodes=1", "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_ports(1)[0]}"]
    command += [
        str(directory / "train.py"),
        *SMALL,
        "--steps=100000",
        f"--checkpoints={run}",
        "--checkpoint-seconds=45",
    ]
    began, killed, requested = time.monotonic(), False, False
    job = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while (passed := time.monotonic() - began) < _SECONDS:
        if passed > _KILLED and not killed:
            killed = True
            ranks = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
            os.kill(int(ranks[0]), signal.SIGKILL)
        if passed > _ASKED and not requested:
            requested = True
            (run / "request").touch()
        if job.poll() is not None:
            job = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        time.sleep(1)
    job.terminate()
    job.wait()


def main(path: str) -> None:
    """Train, and draw the dashboard."""
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory() as name:
        directory, run = Path(name), Path(name) / "run"
        run.mkdir()
        with _prometheus(directory, _serve(directory), port) as prometheus:
            _train(directory, run)
            preview = Preview(f"http://127.0.0.1:{port}", chosen={"cluster": _NAME, "job": _JOB}, minutes=_SECONDS / 60)
            (board,) = (item for item in DASHBOARDS if item.uid == "ultracluster-job")
            preview.draw(board, Path(path))
            prometheus.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
