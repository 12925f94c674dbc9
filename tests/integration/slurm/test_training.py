"""The training program through the rendered job file, on a real Slurm: two nodes with a process each, on CPUs."""

import fcntl
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.dashboard_queries import queries
from support.loss_curve import line, picture
from support.ports import free_ports
from support.real_slurm import RealSlurm
from support.real_slurm.accounting import environments
from support.rule_tests import needed, promtool
from support.training import BIN, ENVIRONMENT, SMALL
from support.waiting import PATIENCE_SECONDS
from ultracluster import clusterfile
from ultracluster.workloads import job_helpers, workload_files

pytestmark = pytest.mark.daemons

CLUSTER = """\
name: training
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.4xlarge, count: 2}
storage:
  lustre: {throughput: 20 GB/s}
"""
CURVE = ROOT / "docs/images/loss-curve.svg"
STEPS = 30
# The program itself, which waits before some steps while the test has a file locked.
PROGRAM = """\
import fcntl, pathlib, sys
import ultracluster_train as program
train_step = program.Training.train_step
def gated(training):
    gate = pathlib.Path(f"gate-{training.step}")
    if gate.exists():
        with gate.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    return train_step(training)
program.Training.train_step = gated
sys.exit(program.main(sys.argv[1:]))
"""
OPTIONS = [*SMALL, f"--steps={STEPS}", "--checkpoint-steps=5"]


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as running:
        python = running.directory / "fsx/jobs/current/python"
        python.mkdir(parents=True)
        for file in job_helpers():
            (python / Path(file.path).name).write_text(file.text)
        yield running


class Run:
    """A job in a directory of its own."""

    def __init__(self, slurm: RealSlurm) -> None:
        self.slurm, self.here = slurm, slurm.directory / "fsx" / "run"
        self.here.mkdir()
        (file,) = workload_files(slurm.cluster, "pretrain")
        (self.here / "pretrain.sbatch").write_text(file.text.replace("=/fsx", f"={slurm.directory}/fsx"))
        (self.here / "train.py").write_text(PROGRAM)
        self.id = ""

    def submit(self) -> None:
        self.id = self.slurm.run(
            *("sbatch", "--parsable", f"--chdir={self.here}", f"{self.here}/pretrain.sbatch", "train.py", *OPTIONS),
            **{**ENVIRONMENT, "PATH": f"{BIN}:{self.slurm.environment['PATH']}"},
            MASTER_PORT=str(free_ports(1)[0]),
            ULTRACLUSTER_ROOT=str(self.slurm.directory / "nodes/train-1/root"),
            IMAGE="",
            RUN=str(self.here / "checkpoints"),
        )

    def events(self, kind: str) -> list[dict[str, Any]]:
        log = self.here / f"pretrain-{self.id}.out"
        lines = log.read_text().splitlines() if log.exists() else []
        return [event for line in lines if line.startswith("{") and (event := json.loads(line))["event"] == kind]

    def losses(self) -> list[tuple[int, float]]:
        return [(event["step"], event["loss"]) for event in self.events("step")]

    def reached(self, step: int, times: int = 1) -> None:
        self.slurm.until(f"step {step} is done", lambda: [done for done, _ in self.losses()].count(step) == times)

    def metrics(self) -> dict[str, float]:
        (file,) = (self.slurm.directory / "nodes/train-1/root/var/lib/ultracluster/job-metrics").glob("*/train.prom")
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    @contextmanager
    def gate(self, step: int) -> Iterator[None]:
        """Hold all ranks before the step after this one."""
        with (self.here / f"gate-{step}").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
            (self.here / f"gate-{step}").unlink()

    def kill(self, rank: int) -> None:
        """End the process of a rank, as a fault of its node's memory does."""
        here = f"\0RANK={rank}\0"
        pids = [pid for pid, text in environments() if here in text and str(self.here) in text and "train.py" in text]
        assert pids, f"rank {rank} does not run"
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def uninterrupted(directory: Path) -> list[tuple[int, float]]:
    """Losses of the same run without Slurm: two processes, from the first step to the last."""
    python = directory / "fsx/jobs/current/python"
    # Python below 3.14 may abort while it ends, if a thread of PyTorch wants its lock:
    # https://github.com/pytorch/pytorch/issues/38228 (read 2026-11-28)
    program = "import os, sys, ultracluster_train; os._exit(ultracluster_train.main(sys.argv[1:]))"
    command = [f"{BIN}/python", "-c", program, *OPTIONS, f"--checkpoints={directory}/alone"]
    common = {
        **ENVIRONMENT,
        "PYTHONPATH": str(python),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_ports(1)[0]),
        "WORLD_SIZE": "2",
    }
    ranks = [
        subprocess.Popen(command, env={**common, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    (log, _), _ = (rank.communicate(timeout=PATIENCE_SECONDS) for rank in ranks)
    assert [rank.returncode for rank in ranks] == [0, 0]
    events = [json.loads(line) for line in log.splitlines()]
    return [(event["step"], event["loss"]) for event in events if event["event"] == "step"]


#: Panels of the dashboard Job, and what the job reported: a value, or None for a rate.
PANELS = {
    "Step": "train_step",
    "Time of a step": "train_step_seconds",
    "MFU": "train_mfu_ratio",
    "Loss": "train_loss",
    "Startup": "train_startup_seconds",
    "Checkpoint": "train_checkpoint_seconds",
    "Tokens per second": None,
    "Time that is lost, by cause": None,
}


def dashboard_shows(metrics: dict[str, float], directory: Path) -> None:
    """Evaluate the queries of the dashboard with promtool, on what the job has written and the rules of a cluster."""
    labels = 'cluster="llama", instance="ip-10-0-0-1", node="train-1", job_id="7"'
    series = []
    for name, value in metrics.items():
        base, _, label = name.rstrip("}").partition("{")
        growth = 1 if base.endswith("_total") else 0
        given = f"{labels}, {label}" if label else labels
        series.append({"series": f"{base}{{{given}}}", "values": f"{value!r}+{growth}x20"})
    shown = {title: query for board, title, query in queries({"cluster": "llama", "job": "7"}) if board == "job"}
    tests = [
        {
            "expr": f"max({shown[title]})" if metric else f"count({shown[title]} > 0) > bool 0",
            "eval_time": "10m",
            "exp_samples": [{"labels": "{}", "value": metrics[metric] if metric else 1}],
        }
        for title, metric in PANELS.items()
    ]
    names = {
        name for title in PANELS for name in re.findall(r"(?:ultracluster|job|job_cause)[\w:]+(?={)", shown[title])
    }
    rules = {json.dumps(rule): rule for name in sorted(names) for rule in needed(name)}
    (directory / "rules.yaml").write_text(json.dumps({"groups": [{"name": "one", "rules": list(rules.values())}]}))
    promtool(directory, [{"interval": "1m", "input_series": series, "promql_expr_test": tests}])


def drawn(losses: list[tuple[int, float]], whole: list[tuple[int, float]], first: list[int], *, update: bool) -> None:
    """Compare the picture of the docs with the run; `pytest --update-snapshots` draws it."""
    # The second start repeats the steps after its checkpoint; the third repeats none.
    killed = next(number for number in range(1, len(losses)) if losses[number][0] <= losses[number - 1][0])
    requeued = len(losses) - (STEPS - first[2])
    svg = picture(whole, [losses[:killed], losses[killed:requeued], losses[requeued:]])
    if update:
        CURVE.write_text(svg)
    for (_, y), (_, now) in zip(line(CURVE.read_text()), line(svg), strict=True):
        assert abs(y - now) <= 1


def test_the_curve_of_a_killed_and_requeued_run_is_that_of_a_run_without_faults(
    slurm: RealSlurm, pytestconfig: pytest.Config
) -> None:
    run = Run(slurm)
    with ExitStack() as until_killed, ExitStack() as until_asked:
        until_killed.enter_context(run.gate(12))
        until_asked.enter_context(run.gate(20))
        run.submit()
        run.reached(12)
        slurm.until("a checkpoint is complete", (run.here / "checkpoints/step-10/.metadata").exists)
        run.kill(rank=0)
        until_killed.close()
        run.reached(20)
        slurm.until("the second process reports", lambda: run.metrics().get("train_step", 0) >= 15)
        # It may write the metrics of step 15 before the checkpoint of that step is complete.
        slurm.until("a later checkpoint is reported", lambda: "train_checkpoint_seconds" in run.metrics())
        metrics = run.metrics()
        slurm.run("scancel", "--batch", "--signal=USR1", run.id)
        slurm.until("a checkpoint is requested", (run.here / "checkpoints/checkpoint-request").exists)
    slurm.until("the run has ended", lambda: bool(run.events("requested end")))
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 2})
    slurm.start_now(run.id)
    slurm.until("the job ends", lambda: slurm.job(run.id, "%T") in ("COMPLETED", "FAILED", ""))
    assert slurm.job(run.id, "%T") == "COMPLETED", slurm.shown()

    steps = [step for step, _ in run.losses()]
    (last,) = (event["step"] for event in run.events("requested end"))
    # The killed run repeats the steps after its checkpoint; the requeued one repeats none.
    log = (run.here / f"pretrain-{run.id}.out").read_text()
    starts = [event["step"] for event in run.events("start")]
    assert starts[:3] == [0, 10, last], log
    # A process that fails while all of them end is started again, and has no step left: once in some fifteen runs.
    assert starts[3:] in ([], [STEPS]), log
    assert steps == [*range(1, 13), *range(11, STEPS + 1)]
    assert last in range(20, 23)
    curve = dict(run.losses())
    assert [curve[step] for step in (11, 12)] == [loss for step, loss in run.losses()[10:12]]
    uninterrupted_losses = uninterrupted(slurm.directory)
    assert list(curve.items()) == uninterrupted_losses
    assert curve[STEPS] < curve[1] / 1.5

    assert metrics["train_restarts_total"] == 1
    assert metrics["train_tokens_total"] == (metrics["train_step"] - 10) * 2 * 4 * 32
    assert metrics["train_loss"] == pytest.approx(curve[int(metrics["train_step"])], rel=1e-12)
    assert {"train_last_checkpoint_timestamp_seconds", "train_checkpoint_seconds", "train_startup_seconds"} <= set(
        metrics
    )
    dashboard_shows(metrics, slurm.directory)
    firsts = [event["step"] for event in run.events("start")]
    drawn(run.losses(), uninterrupted_losses, firsts, update=bool(pytestconfig.getoption("--update-snapshots")))
    kept = {path.parent.name for path in (run.here / "checkpoints").glob("step-*/.metadata")}
    assert kept == {"step-25", f"step-{STEPS}"}


# A job that fails has the step of its first start in the state of the run.
FAILING = """\
#!/usr/bin/env bash
set -euo pipefail
{image}
run_on_nodes() {{ srun bash -c "$1"; }}
run_is_given=yes requested=no checkpoint_seconds=600 RUN={run}
{progress}
{resume}
{before}
train 'echo "{{\\"step\\": 7}}" >"$ULTRACLUSTER_JOB_STATE"; {ends}'
"""


def submit(slurm: RealSlurm, name: str, ends: str, before: str = "") -> tuple[str, Path]:
    run, script = slurm.directory / "fsx" / name, slurm.directory / f"{name}.sh"
    scripts = (
        ROOT / "constructs/ultracluster/workloads/slurm" / name for name in ("image.sh", "resume.sh", "requeue.sh")
    )
    image, *resuming = (script.read_text() for script in scripts)
    resume = "\n".join(resuming)
    progress = (ROOT / "constructs/ultracluster/boot/scripts/ultracluster_progress.sh").read_text()
    script.write_text(FAILING.format(run=run, image=image, progress=progress, resume=resume, ends=ends, before=before))
    options = ("--parsable", "--requeue", "--open-mode=append", f"--output={run}.log", "--nodes=1")
    return slurm.run("sbatch", *options, f"--partition={slurm.cluster.queues[0].name}", str(script)), run


def test_a_job_that_fails_queues_again_after_a_new_step_alone(slurm: RealSlurm) -> None:
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 2})
    failing, run = submit(slurm, "failing", "exit 9")
    cancelled, _ = submit(slurm, "cancelled", "exec sleep 600")
    slurm.until("it has its step", (slurm.directory / "fsx/cancelled/ultracluster-job.json").exists)
    slurm.run("scancel", cancelled)
    slurm.start_now(failing)
    slurm.until("it ends", lambda: slurm.job(failing, "%T") in ("COMPLETED", "FAILED", ""))
    assert slurm.job(failing, "%T") == "FAILED", slurm.shown()
    lines = Path(f"{run}.log").read_text().splitlines()
    printed = [line.partition(": ")[2] for line in lines if line.startswith("failing.sh: ")]
    assert printed == [
        f"start 0 on 1 nodes, checkpoints in {run}",
        "exit code 9 after step 7, from 0: the job queues again",
        f"start 1 on 1 nodes, checkpoints in {run}",
    ]
    assert slurm.job(cancelled, "%T") == "CANCELLED"


def test_jobs_start_and_queue_again_while_the_controller_starts_again(slurm: RealSlurm) -> None:
    """Commands of Slurm fail after MessageTimeout, 10 s by default: here, after one."""
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 2})
    conf = slurm.directory / "slurm.conf"
    (slurm.directory / "short.conf").write_text(re.sub(r"(?m)^MessageTimeout=.*", "MessageTimeout=1", conf.read_text()))
    before = f"export SLURM_CONF={slurm.directory}/short.conf"
    wait = 'until [ -e "$ULTRACLUSTER_CHECKPOINTS/go" ]; do sleep 0.2; done'
    ending, run = submit(slurm, "ending", f"{wait}; exit 9", before)
    starting, other = submit(slurm, "starting", "exit 0", f"{before}; touch $RUN/ready; {wait}")
    slurm.until("both run", lambda: (run / "ultracluster-job.json").exists() and (other / "ready").exists())
    with slurm.controller_away(ending):
        (run / "go").touch()
        (other / "go").touch()
        logs = (Path(f"{run}.log"), Path(f"{other}.log"))
        message = "Unable to contact slurm controller"
        slurm.until("both have no answer", lambda: all(message in log.read_text() for log in logs))
        # srun would fail.
        assert "start 0 on 1 nodes" not in logs[1].read_text()
    slurm.until("it waits", lambda: slurm.job(ending, "%T") == "PENDING")
    # srun may wait until the nodes have registered.
    slurm.until("its program starts", lambda: "start 0 on 1 nodes" in logs[1].read_text())
    assert slurm.job(starting, "%T") in ("RUNNING", "COMPLETED")
    slurm.run("scancel", ending, starting)
