"""Pods of gangs: their commands run here in bash; what a pod has are directories and variables of the test."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.kubernetes_data import cluster
from support.waiting import PATIENCE_SECONDS
from ultracluster.kubernetes import GANG_FAILURES, GANG_JOB, PYTHON, Object
from ultracluster.kubernetes._resuming import REQUESTED_END
from ultracluster.workloads._kubernetes_gang import job_set
from ultracluster.workloads._kubernetes_rl import rl_job
from ultracluster.workloads._workload import Settings

SCRIPTS = ROOT / "constructs/ultracluster/boot/scripts"


class Pod:
    """A pod of a gang, which shares its directory with the others."""

    def __init__(self, objects: Sequence[Object], directory: Path, index: int = 0) -> None:
        (job,) = (item for item in objects if item["kind"] == "JobSet")
        spec = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        self.container, self.grace = spec["containers"][0], spec["terminationGracePeriodSeconds"]
        fields = {"POD_NAMESPACE": "research", "JOB_NAME": job["metadata"]["name"], "ATTEMPT": "c0ffee"}
        self.environment = {"PATH": os.environ["PATH"], "JOB_COMPLETION_INDEX": str(index), **fields}
        for row in self.container["env"]:
            if "value" in row:
                self.environment[row["name"]] = self._expanded(row["value"].replace("/fsx", str(directory)))
        # Its tests are in test_gang_gate.py.
        self.environment["ULTRACLUSTER_GATE"] = "no"
        self.run_directory = Path(self.environment["RUN"])

    def start(self, *command: str) -> Any:
        """Start a command of the pod: the files of the gang are those of this checkout."""
        words = [word.replace(PYTHON, str(SCRIPTS)) for word in command]
        return subprocess.Popen(words, env=self.environment)

    def main(self, *program: str) -> Any:
        """Start the command of the container, with another program."""
        return self.start(*self.container["command"][:3], *program)

    def hook(self) -> Any:
        """Start the hook before the pod ends."""
        return self.start(*self.container["lifecycle"]["preStop"]["exec"]["command"])

    def _expanded(self, text: str) -> str:
        for name, value in self.environment.items():
            text = text.replace(f"$({name})", value)
        return text


@pytest.fixture
def pods(tmp_path: Path) -> list[Pod]:
    item = cluster()
    objects = job_set(item, item.nodes[0], item.teams[0], Settings(nodes=2))
    return [Pod(objects, tmp_path, index) for index in range(2)]


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.05)


def test_the_exit_code_of_the_program_is_that_of_the_pod(pods: list[Pod]) -> None:
    assert [
        pods[0].main("sh", "-c", f"exit {code}").wait(PATIENCE_SECONDS) for code in ("$FI_EFA_USE_HUGE_PAGE", 3)
    ] == [0, 3]


def test_a_program_that_failed_after_a_new_step_restarts_the_gang_at_no_cost(pods: list[Pod]) -> None:
    fails = 'echo "{\\"step\\": $1}" >"$ULTRACLUSTER_JOB_STATE"; exit 9'
    codes = [pods[0].main("sh", "-c", fails, "program", str(step)).wait(PATIENCE_SECONDS) for step in (7, 7, 8)]
    # An error of the program itself comes back at the same step.
    assert codes == [REQUESTED_END, 9, REQUESTED_END]
    # The gate leaves a node out, whatever the program had reached.
    left = 'echo "{\\"step\\": 99}" >"$ULTRACLUSTER_JOB_STATE"; exit 86'
    assert pods[0].main("sh", "-c", left).wait(PATIENCE_SECONDS) == 86


def test_counted_steps_restart_the_gang_after_a_newer_checkpoint_alone(pods: list[Pod]) -> None:
    """Each attempt counts on from the highest step."""
    fails = """
        echo "{\\"step\\": $1, \\"checkpoint\\": $2}" >"$ULTRACLUSTER_JOB_STATE"
        [ "$3" = 0 ] || touch --date="@$3" "$RUN/model.pt"
        exit 9
    """
    first, second = 1_795_000_000, 1_795_000_060
    # The last one fails in its save: no process saw the checkpoint while the program ran.
    states = [(3, 0, 0), (6, first, first), (9, first, first), (12, second, second), (15, second, second + 60)]
    codes = [pods[0].main("sh", "-c", fails, "program", *map(str, state)).wait(PATIENCE_SECONDS) for state in states]
    assert codes == [9, REQUESTED_END, 9, REQUESTED_END, 9]
    reported = 'echo "{\\"step\\": 16}" >"$ULTRACLUSTER_JOB_STATE"; exit 9'
    assert pods[0].main("sh", "-c", reported).wait(PATIENCE_SECONDS) == REQUESTED_END


def test_a_pod_whose_data_is_missing_ends_before_its_program_starts(pods: list[Pod], tmp_path: Path) -> None:
    pods[0].environment["ULTRACLUSTER_DATA"] = f"{tmp_path}/tokens"
    assert pods[0].main("true").wait(PATIENCE_SECONDS) == 2
    (tmp_path / "tokens_text.bin").touch()
    assert pods[0].main("true").wait(PATIENCE_SECONDS) == 0


def test_a_pod_that_ends_requests_a_checkpoint_of_all_and_the_gang_restarts_at_no_cost(pods: list[Pod]) -> None:
    answer = 'touch "$RUN/$JOB_COMPLETION_INDEX"; until [ -e "$CHECKPOINT_REQUEST" ]; do sleep 0.05; done'
    running = [pod.main("sh", "-c", answer) for pod in pods]
    for index in range(2):
        wait_for(pods[0].run_directory / str(index))
    hook = pods[1].hook()
    codes = {process.wait(PATIENCE_SECONDS) for process in running}
    hook.kill()
    hook.wait()
    (code,) = codes
    rules = GANG_JOB["podFailurePolicy"]["rules"]
    assert [rule["action"] for rule in rules if code in rule.get("onExitCodes", {}).get("values", [])] == ["FailJob"]
    (free,) = GANG_FAILURES["rules"]
    assert (free["action"], free["onJobFailureReasons"]) == ("RestartJobSetAndIgnoreMaxRestarts", ["PodFailurePolicy"])
    assert pods[0].grace == 300


def test_a_gang_that_is_admitted_again_does_not_end_for_an_earlier_request(pods: list[Pod]) -> None:
    # Kueue 0.19.2 suspends the JobSet of a gang that it evicts: pods come back in the same Job (2026-11-26).
    request = Path(pods[0].environment["CHECKPOINT_REQUEST"])
    request.parent.mkdir(parents=True)
    files = [request, *(request.with_name(f"{request.name}.{suffix}") for suffix in ("requested", "failed"))]
    for file in files:
        file.touch()
    assert pods[1].main("true").wait(PATIENCE_SECONDS) == 85
    assert pods[0].main("sh", "-c", '[ ! -e "$CHECKPOINT_REQUEST" ]').wait(PATIENCE_SECONDS) == 0
    assert not any(file.exists() for file in files)


def test_a_failed_pod_ends_the_wait_of_the_others_and_a_hanging_program_gets_the_signal(pods: list[Pod]) -> None:
    hanging = pods[0].main("sleep", str(PATIENCE_SECONDS))
    wait_for(pods[0].run_directory / ".requests")
    hook = pods[0].hook()
    assert pods[1].main("false").wait(PATIENCE_SECONDS) == 1
    assert hook.wait(PATIENCE_SECONDS) == 0
    hanging.send_signal(signal.SIGTERM)
    assert hanging.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM


def test_verl_starts_on_the_first_pod_once_the_others_have_joined(tmp_path: Path) -> None:
    item = cluster()
    objects = rl_job(item, item.nodes[0], item.teams[0], Settings(nodes=2, data="/fsx/d", image="r.io/verl:1"))
    (tmp_path / "bin").mkdir()
    listed = r'list) echo "\"node_id\""; echo "\"node_id\"" ;;'
    ray = f'echo "ray $*" >>"$SAID"; case $1 in status) exit 1 ;; {listed} esac'
    for name, text in (("ray", ray), ("python3", 'echo "python3 $*" >>"$SAID"')):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    calls = []
    for index in range(2):
        pod = Pod(objects, tmp_path, index)
        pod.environment |= {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "SAID": str(tmp_path / f"said-{index}")}
        assert pod.start(*pod.container["command"]).wait(PATIENCE_SECONDS) == 0
        calls.append((tmp_path / f"said-{index}").read_text().splitlines())
    head, worker = calls
    assert [line.split(" --num-cpus")[0] for line in (head[0], worker[0])] == ["ray start --num-gpus=8"] * 2
    (trainer,) = (line for line in head if line.startswith("python3"))
    assert " -m verl.trainer.main_ppo " in trainer
    assert " trainer.nnodes=2 trainer.n_gpus_per_node=8 " in trainer
    assert "data.train_files=/fsx/d/train.parquet data.val_files=/fsx/d/test.parquet" in trainer
    assert worker[0].endswith("--address=rl-train-node-0-0.rl-train:6379")
    assert (head[-1], worker[-1]) == ("ray stop", "ray stop")
