"""After an error, a job queues again if it is further than before: the script of job files around real programs."""

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from support import ROOT
from support.job_node import Node

SCRIPTS = ROOT / "constructs/ultracluster"
START = """\
set -euo pipefail
squeue() { echo "RUNNING N/A"; }
scontrol() { echo "scontrol $*"; }
run_on_nodes() { "$PYTHON" "$RUN_PROGRAM" "$@"; }
run_is_given=yes requested=no checkpoint_seconds=1
source "$JOB_FILES/image.sh"
source "$PROGRESS"
source "$JOB_FILES/resume.sh"
source "$JOB_FILES/requeue.sh"
train "$PROGRAM"
"""
# Two steps, perhaps a checkpoint, and then the same error at each start.
TORCH = """\
import os, pathlib, torch
weight = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(2):
    weight.grad = torch.ones(1)
    optimizer.step()
if os.environ.get("SAVES"):
    pathlib.Path(os.environ["RUN"], "model.pt").write_text(os.environ["SAVES"])
raise RuntimeError("the same at each start")
"""
# It reports steps itself, and fails after the third.
REPORTS = """\
import ultracluster_job
job = ultracluster_job.Job()
for step in (1, 2, 3):
    job.step(step)
raise RuntimeError("a GPU fails")
"""
# JAX and the driver of Ray have no optimizer of PyTorch.
OTHER = """\
import os, pathlib, sys
if os.environ.get("SAVES"):
    pathlib.Path(os.environ["RUN"], "state.ocdbt").write_text(os.environ["SAVES"])
sys.exit(1)
"""


class Job:
    """A job and its starts.

    Args:
        python: Python that runs it.
        directory: Directory of the test.
        text: The program.
        code: Its exit code.
    """

    def __init__(self, python: Path, directory: Path, text: str, code: int = 1) -> None:
        self.python, self.code, self.printed = python, code, ""
        (directory / "metrics").mkdir()
        self.program, self.run = directory / "train.py", directory / "run"
        self.program.write_text(text)

    def starts(self, *, restarts: int = 0, saves: bool = False) -> bool:
        """Start it; return True if it queues again.

        Args:
            restarts: Starts before this one.
            saves: It writes a checkpoint.
        """
        environment = {
            **os.environ,
            **{"PYTHON": str(self.python), "JOB_FILES": str(SCRIPTS / "workloads/slurm")},
            **{"PROGRESS": str(SCRIPTS / "boot/scripts/ultracluster_progress.sh")},
            **{"RUN_PROGRAM": str(SCRIPTS / "boot/scripts/ultracluster_run.py"), "PROGRAM": str(self.program)},
            **{"RUN": str(self.run), "ULTRACLUSTER_JOB_METRICS": str(self.run.parent / "metrics"), "RANK": "0"},
            **{"SLURM_JOB_NAME": "pretrain", "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1"},
            **{"SLURM_RESTART_COUNT": str(restarts), "SAVES": "yes" if saves else ""},
        }
        done = subprocess.run(["bash", "-c", START], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == self.code, done.stderr
        self.printed = done.stdout
        return "scontrol requeue 7" in self.printed


@pytest.mark.parametrize("text", [TORCH, OTHER])
def test_a_program_that_reports_no_steps_queues_again_after_a_newer_checkpoint_alone(
    torch: Path, tmp_path: Path, text: str
) -> None:
    """Counted steps go on from the highest one at each start, so the error itself would be progress for ever."""
    job = Job(torch, tmp_path, text)
    assert job.starts(saves=True)
    assert not job.starts(restarts=1), "the same error, and no newer checkpoint"


@pytest.mark.parametrize(("array", "queued"), [("7", "7_2"), ("1", "7")], ids=["last task", "submitted by a task"])
def test_a_job_that_a_task_of_an_array_submits_queues_itself_again(
    array: str, queued: str, torch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment has the variables of the task: sbatch passes them on, and Slurm sets others."""
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", array)
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "2")
    job = Job(torch, tmp_path, OTHER)
    assert job.starts(saves=True)
    assert f"scontrol requeue {queued}\n" in job.printed


# torchrun ends the other processes of a failed job. A later start writes its checkpoint in a later second.
ENDED = """\
import os, pathlib, time, torch
weight = torch.nn.Parameter(torch.ones(1))
weight.grad = torch.ones(1)
torch.optim.SGD([weight], lr=0.1).step()
if os.environ["SAVES"]:
    model = pathlib.Path(os.environ["RUN"], "model.pt")
    model.write_text("")
    os.utime(model, (time.time(), time.time() + int(os.environ["SLURM_RESTART_COUNT"])))
os.kill(os.getpid(), 9)
"""


def test_a_program_that_is_killed_at_once_after_a_checkpoint_queues_again(torch: Path, tmp_path: Path) -> None:
    """Its process looks for checkpoints every half minute only."""
    job = Job(torch, tmp_path, ENDED, code=137)
    assert job.starts(saves=True)
    assert not job.starts(restarts=1), "the same end, and no newer checkpoint"
    assert job.starts(restarts=1, saves=True)
    assert not job.starts(restarts=3, saves=True), "a program that fails in each save leaves a newer file, too"


def test_the_script_looks_for_the_same_files_as_the_process() -> None:
    program = (SCRIPTS / "boot/scripts/ultracluster_run.py").read_text()
    script = (SCRIPTS / "boot/scripts/ultracluster_progress.sh").read_text()
    (names,) = re.findall(r"_CHECKPOINTS = (\(.*\))", program)
    (pattern,) = re.findall(r"-regex '(.*?)'", script)
    assert pattern == rf".*\.({'|'.join(name.removeprefix('.') for name in ast.literal_eval(names))})"
    (levels,) = re.findall(r"_LEVELS = (\d+)", program)
    (loop,) = re.findall(r"for _ in ([\d ]+);", script)
    assert loop.split()[-1] == levels
    (newest,) = re.findall(r"_NEWEST = (\d+)", program)
    assert f"head -n {newest} " in script


@pytest.mark.parametrize(("restarts", "again"), [(2, True), (3, False)])
def test_a_program_with_checkpoints_elsewhere_queues_again_three_times(
    torch: Path, tmp_path: Path, restarts: int, again: bool
) -> None:
    assert Job(torch, tmp_path, TORCH).starts(restarts=restarts) is again


def test_a_program_that_fails_before_a_step_does_not_queue_again(torch: Path, tmp_path: Path) -> None:
    assert not Job(torch, tmp_path, OTHER).starts()


@pytest.mark.parametrize(("earlier", "again"), [(1, True), (3, False)])
def test_reported_steps_are_progress_after_a_start_that_ended_before_its_program_reported(
    torch: Path, tmp_path: Path, earlier: int, again: bool
) -> None:
    """A node that is lost while programs start leaves the time of a checkpoint in the state."""
    job = Job(torch, tmp_path, REPORTS)
    job.run.mkdir()
    (job.run / "ultracluster-job.json").write_text(f'{{"step": {earlier}, "checkpoint": 1795000000}}')
    assert job.starts() is again


# Slurm sends USR1 to the script alone, here while it tests its nodes.
GATE = """\
#!/bin/sh
kill -USR1 "$PPID"
"""
SCONTROL = """\
#!/bin/sh
[ "$1" != --version ] || echo "slurm $VERSION"
[ "$1" != requeue ] || echo "requeued $2"
"""
SQUEUE = """\
#!/bin/sh
printf '%-20s%-20s\n' RUNNING "$PREEMPTED"
"""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    node = Node(tmp_path)
    node.provide("scontrol", SCONTROL)
    node.provide("squeue", SQUEUE)
    program = node.root / "usr/local/sbin/ultracluster-job-gate"
    program.parent.mkdir(parents=True)
    program.write_text(GATE)
    program.chmod(0o755)
    return node


def run(node: Node, *, gate: str, preempted: str = "N/A", version: str = "25.11.2", restarts: int = 0) -> list[str]:
    """Run pretrain.sbatch with a program that ends when a checkpoint is requested; return the lines of its log."""
    done = node.run(
        "slurm-512-gpus:train/pretrain",
        **{"PAYLOAD": 'until [ -e "$CHECKPOINT_REQUEST" ]; do sleep 0.1; done; echo saved', "GATE": gate},
        **{"PREEMPTED": preempted, "VERSION": version, "SLURM_RESTART_COUNT": str(restarts)},
        nodes=1,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_request_while_nodes_are_tested_queues_the_job_again_before_its_program_starts(node: Node) -> None:
    """Without a trap, USR1 ends the script, and Slurm does not requeue the job."""
    log = run(node, gate="nodes")
    assert log[-2:] == ["job: requested to end before its program started: the job queues again", "requeued 7"]
    assert "saved" not in log
    # A time limit that is shorter than the tests requests it at each start.
    assert run(node, gate="nodes", restarts=3)[-2:] == ["saved", "requeued 7"]


@pytest.mark.parametrize(
    ("preempted", "version", "requeued"),
    [
        ("N/A", "25.11.2", True),
        ("2026-11-27T07:10:00", "22.05.8", True),
        # Slurm requeues it by itself, and would do it once more at its next end.
        ("2026-11-27T07:10:00", "24.05.0", False),
        ("2026-11-27T07:10:00", "25.11.2", False),
    ],
)
def test_a_preempted_job_is_requeued_once(node: Node, preempted: str, version: str, requeued: bool) -> None:
    log = run(node, gate="nodes", preempted=preempted, version=version)
    assert ("requeued 7" in log) is requeued


# Functions of a job file, and a slurmctld that runs the job and knows two nodes.
WITHOUT = f"""
    sinfo() {{ printf 'n-1 idle\nn-2 idle\n'; }}
    squeue() {{ case "$*" in *--Format=State*) echo "RUNNING N/A" ;; *) echo "7 $EXCLUDED" ;; esac; }}
    sleep() {{ :; }}
    SLURM_JOB_ID=7 SLURM_JOB_NAME=train SLURM_JOB_PARTITION=train SLURM_JOB_NUM_NODES=1
    source {SCRIPTS / "workloads/slurm/image.sh"}
    source {SCRIPTS / "workloads/slurm/requeue.sh"}
"""


def sh(directory: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUN": str(directory), "EXCLUDED": "", **variables}
    command = ["bash", "-euo", "pipefail", "-c", WITHOUT + script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def test_a_job_that_slurm_does_not_queue_again_still_takes_nodes_back_when_it_is_ended(tmp_path: Path) -> None:
    (tmp_path / "ultracluster-left-out-7").write_text("1 n-1\n")
    script = """
    scontrol() {
        case "$1" in
            show) echo n-1 ;;
            requeue) return 1 ;;
            update) echo "$3" ;;
        esac
    }
    requeue_without n-1
    kill -TERM $$
    echo goes on
    """
    result = sh(tmp_path, script)
    assert result.returncode == 143, result
    assert not (tmp_path / "ultracluster-left-out-7").exists()


def test_nodes_that_the_user_excludes_stay_so_where_the_controller_does_not_answer_at_first(tmp_path: Path) -> None:
    """An answer that is lost is no empty list: others of a partition may be of another type."""
    (tmp_path / "ultracluster-left-out-7").write_text("1 n-2\n")
    script = """
    answers() { [ -e "$RUN/$1" ] || { touch "$RUN/$1"; return 1; }; }
    eval "asked_$(declare -f squeue)"
    squeue() { answers squeue && asked_squeue "$@"; }
    eval "asked_$(declare -f sinfo)"
    sinfo() { answers sinfo && asked_sinfo; }
    scontrol() { case "$1" in show) tr , '\\n' <<<"$3" ;; update) echo "$3" ;; esac; }
    %s
    """
    assert sh(tmp_path, script % "exit 1", EXCLUDED="n-2,n-9").stdout == "excnodelist=n-9\n"
    (tmp_path / "squeue").unlink()
    result = sh(tmp_path, script % "requeue_without n-1", EXCLUDED="n-9")
    assert result.stdout == "train: queued again without n-9,n-1\nexcnodelist=n-9,n-1\n", result


def test_a_job_whose_log_is_on_a_full_disk_saves_in_time_and_queues_again(tmp_path: Path) -> None:
    """Under errexit, a line that cannot be written ends the script, and with it the program."""
    script = f"""
    run_is_given=yes requested=no checkpoint_seconds=1
    source {SCRIPTS / "boot/scripts/ultracluster_progress.sh"}
    source {SCRIPTS / "workloads/slurm/resume.sh"}
    scontrol() {{ echo "scontrol $*" >&2; }}
    run_on_nodes() {{
        kill -USR1 $$
        until [ -e "$CHECKPOINT_REQUEST" ]; do command sleep 0.1; done
    }}
    exec >/dev/full
    train
    """
    assert "scontrol requeue 7\n" in sh(tmp_path, script).stderr


@pytest.mark.parametrize(
    ("recorded", "without"),
    [(None, "n-7,n-2"), ("", "n-7,n-2"), ("2 n-3", "n-7,n-3,n-2"), ("1 n-3", "n-7,n-2"), ("2 n-3,n-7", "n-3,n-7,n-2")],
)
def test_tests_before_an_earlier_start_leave_no_node_out(tmp_path: Path, recorded: str | None, without: str) -> None:
    """A node that runs the script, and is lost, leaves the record of its tests; on a full disk, it is empty."""
    if recorded is not None:
        (tmp_path / "ultracluster-left-out-7").write_text(recorded and f"{recorded}\n")
    script = """
    sinfo() { printf 'n-%s idle\\n' 1 2 3 4 5 6 7; }
    scontrol() {
        case "$1" in
            show) tr , '\\n' <<<"$3" ;;
            update) EXCLUDED=${3#*=} && echo "$3" ;;
        esac
    }
    (requeue_without n-2)
    take_back
    """
    result = sh(tmp_path, script, SLURM_RESTART_COUNT="2", EXCLUDED="n-3,n-7" if recorded else "n-7")
    assert f"train: queued again without {without}\nexcnodelist={without}\n" in result.stdout, result
