"""Job files report progress without a change of the training program: the launcher, and where it is used."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support import ROOT
from support.kubernetes_data import cluster, nodes
from support.ports import free_ports
from support.relabelling import relabelled
from ultracluster.kubernetes import REPORTER, Object, platform
from ultracluster.monitoring.collectors import NAMESPACE, kubernetes_scraping
from ultracluster.workloads import job_helpers
from ultracluster.workloads._kubernetes_gang import TRAINING, job_set, train_job
from ultracluster.workloads._kubernetes_inference import VLLM_SERVER, leader_worker_set
from ultracluster.workloads._workload import Settings

RUN = ROOT / "constructs/ultracluster/boot/scripts/ultracluster_run.py"
# What the launcher uses of each library, with the library's own names and order of calls.
LIBRARIES = {
    # torch/optim/optimizer.py of https://github.com/pytorch/pytorch (read 2026-11-23)
    "torch/optim/optimizer.py": """
_hooks = {}
def register_optimizer_step_post_hook(hook): _hooks[len(_hooks)] = hook
class Optimizer:
    def step(self):
        for hook in _hooks.values(): hook(self, (), {})
""",
    # src/transformers/trainer.py of https://github.com/huggingface/transformers (read 2026-11-23)
    "transformers/trainer_callback.py": "class TrainerCallback: ...\n",
    "transformers/trainer.py": """
from types import SimpleNamespace
class Trainer:
    def __init__(self, callbacks=()):
        self.callbacks = list(callbacks)
    def add_callback(self, callback):
        self.callbacks.append(callback)
    def train(self):
        state = SimpleNamespace(global_step=0, num_input_tokens_seen=0, total_flos=0.0)
        for state.global_step in (1, 2, 3):
            for callback in self.callbacks: callback.on_step_end(None, state, None)
            state.total_flos += 1e12
            for callback in self.callbacks: callback.on_log(None, state, None, logs={"loss": 2.5})
        for callback in self.callbacks: callback.on_save(None, state, None)
""",
}
LOOP = """
import sys, os, pathlib
from torch.optim.optimizer import Optimizer
model, other = Optimizer(), Optimizer()
for step in range(4):
    model.step()
    other.step()
pathlib.Path("seen").write_text(" ".join([__name__, *sys.argv, sys.path[0]]))
"""
TRAINER = "from transformers.trainer import Trainer\nTrainer().train()\n"
OWN = "import ultracluster_job\nultracluster_job.Job(every=0).step(41)\n" + TRAINER


def launch(directory: Path, program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    for name, text in LIBRARIES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    (directory / "train.py").write_text(program)
    metrics = directory / "metrics"
    metrics.mkdir(exist_ok=True)
    environment = {"ULTRACLUSTER_JOB_METRICS": str(metrics), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run([sys.executable, "-S", str(RUN), "train.py", "--lr", "1"], env=environment, cwd=directory,
                          capture_output=True, text=True, timeout=180)  # fmt: skip


def samples(directory: Path) -> dict[str, float]:
    lines = (directory / "metrics/train.prom").read_text().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_a_loop_of_pytorch_reports_its_steps_and_checkpoints(tmp_path: Path) -> None:
    run = tmp_path / "run/step-1000"
    run.mkdir(parents=True)
    (run / "model.safetensors").touch()
    os.utime(run / "model.safetensors", (5e8, 5e8))
    (tmp_path / "run/train.log").touch()
    (tmp_path / "state").write_text(json.dumps({"step": 1000}))
    done = launch(tmp_path, LOOP, ULTRACLUSTER_CHECKPOINTS=str(tmp_path / "run"), SLURM_RESTART_COUNT="2",
                  ULTRACLUSTER_JOB_STATE=str(tmp_path / "state"))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "seen").read_text() == f"__main__ train.py --lr 1 {tmp_path}"
    values = samples(tmp_path)
    assert (values["train_step"], values["train_restarts_total"]) == (1004, 2)
    assert values["train_last_checkpoint_timestamp_seconds"] == 5e8


def test_a_program_that_reports_itself_is_left_alone(tmp_path: Path) -> None:
    done = launch(tmp_path, OWN)
    assert (done.returncode, done.stderr, samples(tmp_path)["train_step"]) == (0, "", 41)


def test_the_port_of_a_pod_serves_the_job_of_the_program(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    asks = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}').read().decode())"
    done = launch(tmp_path, f"{OWN}{asks}\n", ULTRACLUSTER_JOB_METRICS="", ULTRACLUSTER_JOB_PORT=str(port))
    assert (done.returncode, done.stderr, "train_step 41\n" in done.stdout) == (0, "", True)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=1)


@pytest.mark.parametrize(
    ("program", "variables", "code", "says"),
    [
        ("raise SystemExit(7)", {}, 7, ""),
        (TRAINER, {"RANK": "1"}, 0, ""),
        (TRAINER, {"ULTRACLUSTER_GPU_FLOPS": "many"}, 0, "ultracluster_run: not reported: could not convert"),
    ],
)
def test_the_program_runs_as_without_the_launcher(
    tmp_path: Path, program: str, variables: dict[str, str], code: int, says: str
) -> None:
    done = launch(tmp_path, program, **variables)
    assert (done.returncode, done.stderr.startswith(says)) == (code, True)
    assert (tmp_path / "metrics/train.prom").exists() == (code == 7)


def pods(objects: list[Object]) -> dict[str, Object]:
    """Pods of a gang of each kind, as the controller creates them."""
    runtime = next(item for item in objects if item["kind"] == "ClusterTrainingRuntime")
    item = cluster()
    jobs = job_set(item, item.nodes[0], item.teams[0], Settings())
    gang = next(created for created in jobs if created["kind"] == "JobSet")
    return {
        "TrainJob": runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"],
        "JobSet": gang["spec"]["replicatedJobs"][0]["template"]["spec"]["template"],
    }


@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
def test_the_collector_reads_the_metrics_of_a_gangs_pods(kind: str) -> None:
    objects = list(platform(cluster()).objects)
    pod = pods(objects)[kind]
    container = pod["spec"]["containers"][0]
    env = {item["name"]: item.get("value") for item in container["env"]}
    port = pod["metadata"]["annotations"]["ultracluster/metrics-port"]
    assert env["ULTRACLUSTER_JOB_PORT"] == port
    assert float(env["ULTRACLUSTER_GPU_FLOPS"]) > 1e14
    policy = next(item for item in objects if item["metadata"]["name"] == "allow-metrics")
    (rule,) = policy["spec"]["ingress"]
    assert rule["ports"] == [{"port": int(port), "protocol": "TCP"}]
    assert rule["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": NAMESPACE}


@pytest.mark.parametrize("kind", ["TrainJob", "JobSet"])
def test_a_gang_runs_the_launcher_from_a_config_map_of_its_namespace(kind: str) -> None:
    item = cluster()
    objects = list(platform(item).objects)
    pod = pods(objects)[kind]["spec"]
    train = train_job(item, item.nodes[0], item.teams[0], Settings())[0]
    command = pod["containers"][0].get("command") or train["spec"]["trainer"]["command"]
    assert command[-2:] == [REPORTER, TRAINING]
    (volume,) = (volume for volume in pod["volumes"] if "configMap" in volume)
    (mount,) = (mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == volume["name"])
    maps = [
        item["data"]
        for item in objects
        if item["kind"] == "ConfigMap"
        and (item["metadata"]["name"], item["metadata"]["namespace"]) == (volume["configMap"]["name"], "research")
    ]
    (files,) = maps
    assert (mount["mountPath"], REPORTER.rpartition("/")[2] in files) == (REPORTER.rpartition("/")[0], True)
    assert {Path(path).name for path in command if path.startswith(mount["mountPath"])} <= files.keys()
    assert {RUN.name, *(Path(file.path).name for file in job_helpers())} <= files.keys()


def test_the_collector_reads_the_metrics_of_vllm() -> None:
    item = cluster(nodes(count=4))
    created = leader_worker_set(VLLM_SERVER, item, item.nodes[0], item.teams[0], Settings(nodes=2))
    template = created[0]["spec"]["leaderWorkerTemplate"]
    (port,) = template["leaderTemplate"]["spec"]["containers"][0]["ports"]
    number = template["leaderTemplate"]["metadata"]["annotations"]["ultracluster/metrics-port"]
    assert number == str(port["containerPort"])
    assert "ultracluster/metrics-port" not in template["workerTemplate"]["metadata"].get("annotations", {})
    callers = created[-1]["spec"]["ingress"]
    assert [rule["from"][0].get("namespaceSelector") is not None for rule in callers] == [False, True]


def test_only_the_first_pod_of_a_gang_is_scraped_and_only_until_it_ends() -> None:
    """A finished pod has its address for as long as it is listed, and the CNI plugin gives it to the next pod."""
    jobs = yaml.safe_load(kubernetes_scraping("c"))["scrape_configs"]
    (workloads,) = (job for job in jobs if job["job_name"] == "workloads")
    meta = "__meta_kubernetes_pod_"
    pod = {f"{meta}annotation_ultracluster_metrics_port": "8000", f"{meta}ip": "10.0.0.1", f"{meta}name": "run-0-0"}

    def scraped(rank: str, phase: str) -> bool:
        labels = {f"{meta}label_batch_kubernetes_io_job_completion_index": rank, f"{meta}phase": phase}
        return relabelled(pod | labels, workloads["relabel_configs"]) is not None

    assert [scraped("0", phase) for phase in ("Running", "Succeeded", "Failed")] == [True, False, False]
    assert not scraped("1", "Running")


def test_a_request_for_a_checkpoint_ends_a_program_that_handles_the_signal(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(
        "import signal, sys, time\n"
        "time.sleep(2.5)\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(open('saved', 'w').close()))\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "request").touch()
    environment = {**os.environ, "CHECKPOINT_REQUEST": str(tmp_path / "request"), "RANK": "3"}
    command = [sys.executable, str(RUN), str(program)]
    done = subprocess.run(
        command,
        env={**environment, "ULTRACLUSTER_REQUEST_SIGNAL": "TERM"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.returncode, "checkpoint requested" in done.stderr) == (0, True), done.stderr
    assert (tmp_path / "saved").exists(), "the signal came before the program handled it"
