"""64 nodes, 512 GPUs: our job script on a real Slurm controller, with the configuration that AWS PCS would have.

`pytest -s tests/integration/slurm/test_gang.py` prints what sinfo, squeue and sacct say at every step.
docs/operations/verification.md says what it shows.
"""

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import ROOT
from support.real_slurm import RealSlurm
from ultracluster.boot import breaker_boot, health_mode_parameter
from ultracluster.clusterfile import ClusterFile, load
from ultracluster.workloads import slurm_jobs

pytestmark = pytest.mark.daemons

NODES, GPUS = 64, 512
LONG = "exec sleep 600"
AWS = ROOT / "tests/support/node_boot/aws"


@pytest.fixture(scope="module")
def cluster() -> ClusterFile:
    return load(str(ROOT / "examples" / "slurm-512-gpus.yaml"))


@pytest.fixture(scope="module")
def slurm(cluster: ClusterFile) -> Iterator[RealSlurm]:
    begin = time.monotonic()
    with RealSlurm(cluster) as running:
        for job in slurm_jobs(cluster):
            (running.directory / Path(job.path).name).write_text(job.text)
        print(f"\nslurm.conf, as PCS has it:\n{running.pcs_lines}")
        print(f"{NODES} nodes idle after {time.monotonic() - begin:.1f} s")
        yield running
        print(f"whole run: {time.monotonic() - begin:.1f} s")


@pytest.fixture(autouse=True)
def _all_idle(slurm: RealSlurm) -> None:
    """Before a test, not after it: behind the last one all is killed, and nobody waits for Slurm to clear up."""
    slurm.run("scancel", "--me")
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": NODES})


def submit(slurm: RealSlurm, payload: str, *options: str) -> str:
    """Our job file, as it is."""
    run = slurm.directory / "run"
    return slurm.run("sbatch", "--parsable", *options, "pretrain.sbatch", PAYLOAD=payload, RUN=str(run))


def block(slurm: RealSlurm, nodes: int) -> str:
    """Other work, on some nodes."""
    job = slurm.run("sbatch", "--parsable", f"--nodes={nodes}", "--exclusive", "--partition=train", f"--wrap={LONG}")
    slurm.until("the other job runs", lambda: state(slurm, job) == "RUNNING")
    return job


def state(slurm: RealSlurm, job: str) -> str:
    return slurm.job(job, "%T")


def reason(slurm: RealSlurm, job: str) -> str:
    return slurm.job(job, "%r")


def tasks(slurm: RealSlurm, job: str) -> list[str]:
    """Output of the job's tasks."""
    log = slurm.directory / f"pretrain-{job}.out"
    return sorted(line for line in log.read_text().splitlines() if line.startswith("task")) if log.exists() else []


def runs_on_all(slurm: RealSlurm, job: str) -> None:
    slurm.until(f"job {job} runs on all nodes", lambda: state(slurm, job) == "RUNNING" and len(steps(slurm, job)) == 1)
    slurm.until("accounting knows", lambda: accounted(slurm, job, "State")[-1:] == [("RUNNING",)])
    assert slurm.states() == {"allocated": NODES}
    shown = slurm.run("scontrol", "show", "job", job, "--oneliner")
    assert f" NumNodes={NODES} " in shown
    assert f"gres/gpu={GPUS}" in shown


def steps(slurm: RealSlurm, job: str) -> list[str]:
    """The running steps of a job, without that of the script."""
    result = slurm.run("squeue", "--noheader", "--steps", f"--jobs={job}", "--format=%i").splitlines()
    return [step for step in result if step.rpartition(".")[2].isdecimal()]


def accounted(slurm: RealSlurm, job: str, *fields: str) -> list[tuple[str, ...]]:
    """Accounting of a job: a row for each start."""
    rows = slurm.run(
        "sacct",
        "--noheader",
        "--parsable2",
        "--allocations",
        "--duplicates",
        f"--jobs={job}",
        f"--format={','.join(fields)}",
    )
    return [tuple(row.split("|")) for row in rows.splitlines()]


def show(slurm: RealSlurm, title: str, *, job: str = "") -> None:
    print(f"\n--- {title}\n{slurm.run('sinfo')}")
    if slurm.run("squeue", "--noheader"):
        print(slurm.run("squeue", "--format=%.6i %.9P %.10j %.10T %.6D %.14b %R"))
    if job:
        fields = "JobID,JobName,State,ExitCode,AllocNodes,AllocTRES%68,Start,End"
        print(slurm.run("sacct", "--allocations", "--duplicates", f"--jobs={job}", f"--format={fields}"))


def test_slurm_accepts_every_job_file(slurm: RealSlurm, cluster: ClusterFile) -> None:
    for job in slurm_jobs(cluster):
        # It prints when the job would start, and fails if no nodes could ever run it.
        slurm.run("sbatch", "--test-only", Path(job.path).name)


def test_the_job_waits_until_all_64_are_free_then_all_start_together_and_a_cancelled_job_releases_all(
    slurm: RealSlurm,
) -> None:
    other = block(slurm, 2)
    gang = submit(slurm, 'echo "task $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME"; ' + LONG)
    slurm.until("the job is seen", lambda: reason(slurm, gang) == "Resources")
    assert slurm.states() == {"allocated": 2, "idle": NODES - 2}
    show(slurm, "62 of 64 nodes are free: the job takes none")
    slurm.run("scancel", other)
    runs_on_all(slurm, gang)
    slurm.until("all tasks wrote", lambda: len(tasks(slurm, gang)) == NODES)
    assert tasks(slurm, gang) == sorted(f"task {n - 1} of {NODES} on train-{n}" for n in range(1, NODES + 1))
    show(slurm, "all 64 are free: all start together")
    slurm.run("scancel", gang)
    all_released(slurm, gang, "CANCELLED")
    show(slurm, "the job was cancelled: all 64 are released", job=gang)


@contextmanager
def gate(slurm: RealSlurm) -> Iterator[str]:
    """A command that ends when the `with` does, in all tasks at once and without taking CPU until then."""
    path = slurm.directory / "gate"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield f"flock --shared {path} true"


def all_wait(slurm: RealSlurm, job: str) -> None:
    """All tasks stand before the gate: one that ends while others are still being launched tests srun's launch."""
    runs_on_all(slurm, job)
    slurm.until("all tasks started", lambda: len(tasks(slurm, job)) == NODES)


def all_released(slurm: RealSlurm, job: str, end: str) -> None:
    """The job is over, and with it all of its nodes are free."""
    slurm.until(f"job {job} is {end}", lambda: state(slurm, job) in (end, ""))
    slurm.until("all nodes are free", lambda: slurm.states() == {"idle": NODES})
    slurm.until("accounting knows", lambda: accounted(slurm, job, "State")[-1][0].startswith(end))
    assert accounted(slurm, job, "AllocNodes")[-1] == (str(NODES),)
    assert f"gres/gpu={GPUS}" in accounted(slurm, job, "AllocTRES")[-1][0]
    for node in slurm.nodes:
        # On a busy controller, slurmctld may tell a node twice that the job has ended.
        lines = slurm.log_of(node)
        twice = lines[-2:] == [f"epilog {job}"] * 2
        assert lines[: len(lines) - twice][-2:] == [f"prolog {job}", f"epilog {job}"]


def test_a_node_that_fails_its_prolog_is_drained_with_the_reason_and_the_job_waits_for_64_good_ones_and_succeeds(
    slurm: RealSlurm,
) -> None:
    # The first: before the job's script starts. One further down keeps the others for a minute.
    slurm.made["train-1"].gpus(7)
    slurm.made["train-1"].wait()
    with gate(slurm) as wait:
        gang = submit(slurm, f'echo "task $SLURM_PROCID"; {wait}')
        slurm.until("the node is drained", lambda: slurm.states() == {"drained": 1, "idle": NODES - 1})
        waits(slurm, gang)
        show(slurm, "a node fails its prolog: it is drained, the job is back in the queue", job=gang)
        reasons = slurm.run("sinfo", "--noheader", "--list-reasons", "--format=%E %N")
        print(reasons)
        assert reasons == "ultracluster: devices: 7 of 8 GPUs are there train-1"
        assert slurm.mend("train-1") == "drain-on-failure: resumed train-1: all is well again\n"
        slurm.until("the node is back", lambda: slurm.states() == {"idle": NODES})
        slurm.start_now(gang)
        all_wait(slurm, gang)
        show(slurm, "the node is repaired: all 64 start", job=gang)
    all_released(slurm, gang, "COMPLETED")
    assert accounted(slurm, gang, "ExitCode")[-1] == ("0:0",)
    show(slurm, "the job has succeeded: all 64 are released", job=gang)
    # Its drain counts for an hour, and later tests need the whole budget.
    slurm.run("scontrol", "update", "nodename=train-1", "comment=")


def test_a_wrong_check_drains_at_most_three_of_64_nodes(slurm: RealSlurm) -> None:
    nodes = [f"train-{number}" for number in range(40, 48)]
    results = slurm.fail(nodes, "GPU 0 has 0 of 18 NVLinks up")
    drained = {node for node, code in results.items() if code == 0}
    assert 1 <= len(drained) <= 3
    assert slurm.states()["drained"] == len(drained)
    # A minute later, and with another node.
    again = slurm.fail(["train-39", *sorted(set(nodes) - drained)], "GPU 0 has 0 of 18 NVLinks up")
    assert len(drained) + list(again.values()).count(0) <= 3
    assert slurm.states()["drained"] <= 3
    slurm.reset(["train-39", *nodes])


def test_bad_nodes_are_terminated_once_each_and_no_more_than_two(slurm: RealSlurm, tmp_path: Path) -> None:
    nodes = [f"train-{number}" for number in (60, 61, 62)]
    (tmp_path / "instances").write_text("\n".join(f"i-{node}" for node in nodes))
    for node in nodes:
        here = slurm.made[node]
        (here.state / "aws").symlink_to(AWS)
        here.says("metadata/instance-id", f"i-{node}")
        for item in breaker_boot(cluster=slurm.cluster.name, region="us-east-2", replace={"train": 2}).files:
            here.file(item.path, item.text).chmod(int(item.mode, 8))
    (tmp_path / "parameters.json").write_text(json.dumps({health_mode_parameter(slurm.cluster.name): "enforce"}))
    aws = {"STAND_IN_AWS": str(tmp_path), "ULTRACLUSTER_REPLACE_AFTER": "0"}
    for node in nodes:
        assert slurm.fail([node], "XID 79 on GPU 0000:b9:00", ULTRACLUSTER_SETTLE="0", **aws) == {node: 0}
    assert slurm.states() == {"drained": 3, "idle": NODES - 3}
    for _ in range(2):
        slurm.fail(nodes, "XID 79 on GPU 0000:b9:00", **aws)
    log = (tmp_path / "log").read_text().splitlines()
    terminated = [line.split()[-1] for line in log if line.startswith("ec2 terminate-instances")]
    assert len(terminated) == len(set(terminated)) == 2
    assert (tmp_path / "instances").read_text().split() == [
        f"i-{node}" for node in nodes if f"i-{node}" not in terminated
    ]
    slurm.reset(nodes)


def test_before_its_time_is_up_the_job_is_asked_for_a_checkpoint_and_goes_on_until_one_task_of_64_fails(
    slurm: RealSlurm,
) -> None:
    with gate(slurm) as wait:
        first = 'until [ -e "$CHECKPOINT_REQUEST" ]; do sleep 1; done'
        second = f'{wait}; if [ "$SLURM_PROCID" = 41 ]; then exit 3; fi; {LONG}'
        starts = "${SLURM_RESTART_COUNT:-0}"
        gang = submit(slurm, f'echo "task start {starts}"; if [ {starts} = 0 ]; then {first}; else {second}; fi')
        runs_on_all(slurm, gang)
        # What Slurm sends when the time is up, by --signal.
        slurm.run("scancel", "--batch", "--signal=USR1", gang)
        slurm.until("all nodes are free", lambda: slurm.states() == {"idle": NODES})
        waits(slurm, gang)
        assert tasks(slurm, gang) == ["task start 0"] * NODES
        slurm.start_now(gang)
        runs_on_all(slurm, gang)
        both = ["task start 0"] * NODES + ["task start 1"] * NODES
        slurm.until("all tasks wrote", lambda: tasks(slurm, gang) == both)
        show(slurm, "checkpoint requested: the job goes on from it", job=gang)
    all_released(slurm, gang, "FAILED")
    show(slurm, "one task of 64 has failed: the others were ended, all 64 are released", job=gang)


# The last: Slurm needs more than a minute to clear up after it.
def test_when_the_first_node_is_lost_the_job_waits_for_it_and_starts_again_on_all_64(slurm: RealSlurm) -> None:
    gang = submit(slurm, LONG)
    runs_on_all(slurm, gang)
    slurm.lose("train-1")
    slurm.until("63 are free", lambda: slurm.states().get("idle") == NODES - 1)
    waits(slurm, gang)
    show(slurm, "a node is lost: the job is back in the queue, and 63 nodes wait for it", job=gang)
    slurm.bring_back("train-1")
    slurm.until("the node is back", lambda: slurm.states() == {"idle": NODES})
    slurm.start_now(gang)
    runs_on_all(slurm, gang)
    assert accounted(slurm, gang, "State") == [("NODE_FAIL",), ("RUNNING",)]
    show(slurm, "the node is back: all 64 start again", job=gang)


def waits(slurm: RealSlurm, job: str) -> None:
    slurm.until(f"job {job} is in the queue", lambda: state(slurm, job) == "PENDING")
