"""Nodes of a Capacity Block that ends, on a real Slurm: what EventBridge Scheduler runs on the login nodes."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.boot import drain_block_script

pytestmark = pytest.mark.daemons

CLUSTER = """\
name: block
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.4xlarge, count: 4}
  other: {type: p5.4xlarge, count: 1}
"""
REASON = "Capacity Block cr-0123456789abcdef0 ends at 2026-12-24 11:30 UTC"


def run(slurm: RealSlurm, *, ends: datetime, nodes: str = "train-[1-3]") -> subprocess.CompletedProcess[str]:
    lines = drain_block_script(
        version="25.11", nodes=nodes, reason=REASON, ends=ends, requeue_at=ends - timedelta(minutes=1)
    )
    environment = slurm.environment | {"ULTRACLUSTER_PAUSE": "0"}
    return subprocess.run(["bash", "-c", "\n".join(lines)], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as running:
        yield running


def test_a_task_of_an_array_is_requeued_alone_and_a_heterogeneous_job_as_a_whole(slurm: RealSlurm) -> None:
    alone = ("--nodes=1", "--exclusive", "--partition=train")
    mixed = slurm.run("sbatch", "--parsable", *alone, "--wrap=exec sleep 600", ":", *alone)
    array = slurm.run("sbatch", "--parsable", "--array=1-2", *alone, "--wrap=exec sleep 600")
    first, last = (f"{mixed}+{number}" for number in (0, 1))
    jobs = (first, last, f"{array}_1", f"{array}_2")

    def shown(what: str) -> dict[str, str]:
        lines = slurm.run("squeue", "--noheader", "--array", f"--format=%i {what}").splitlines()
        return {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in lines}

    slurm.until("they run", lambda: shown("%T") == dict.fromkeys(jobs, "RUNNING"))
    # The last task has the number of the array, and the second component has no batch script.
    nodes = f"{shown('%N')[last]},{shown('%N')[f'{array}_2']}"
    before = shown("%e")
    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=30)
    assert run(slurm, ends=ends, nodes=nodes).returncode == 0
    local = ends.astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    after = shown("%e")
    assert after[f"{array}_1"] == before[f"{array}_1"]
    assert {after[job][:16] for job in (first, last, f"{array}_2")} == {local[:16]}
    done = run(slurm, ends=datetime.now(UTC), nodes=nodes)
    assert (done.returncode, done.stderr) == (0, "")
    waiting = dict.fromkeys((first, last, f"{array}_2"), "PENDING")
    slurm.until("they wait again", lambda: shown("%T") == {**waiting, f"{array}_1": "RUNNING"})
    slurm.run("scancel", "--me")
    slurm.run("scontrol", "update", f"nodename={nodes}", "state=resume")
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 5})


def test_jobs_end_with_their_block_and_those_that_are_left_are_requeued(slurm: RealSlurm) -> None:
    def submit(node: str, *options: str) -> str:
        where = ("--parsable", f"--partition={node.partition('-')[0]}", f"--nodelist={node}")
        return slurm.run("sbatch", *where, *options, "--wrap=exec sleep 600")

    def draining() -> list[str]:
        lines = slurm.run("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        return sorted(line.split()[0] for line in lines if line.split()[1].startswith("draining"))

    def end(job: str) -> str:
        return slurm.run("squeue", "--noheader", f"--jobs={job}", "--format=%e")

    endless, short = (
        submit("train-1", "--requeue"),
        submit("train-2", "--time=5"),
    )
    elsewhere = submit("other-1")
    jobs = (endless, short, elsewhere)
    slurm.until("they run", lambda: all(slurm.job(job, "%T") == "RUNNING" for job in jobs))
    before, others = end(short), end(elsewhere)
    # sinfo prints `inval` for such a node, drained or not. The jobs on the others end all the same.
    slurm.lose_gpus("train-3")

    ends = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=30)
    first = run(slurm, ends=ends)
    assert first.returncode == 0, first.stderr
    assert draining() == ["train-1", "train-2"]
    assert slurm.job(endless, "%T") == "RUNNING"
    local = ends.astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    assert end(endless)[:16] == local[:16]
    # A job that ends before keeps its limit, and one on other nodes too.
    assert (end(short), end(elsewhere)) == (before, others)
    assert REASON in slurm.run("scontrol", "show", "node", "train-1")

    # An operator lifts a drain, and the next run repeats it.
    slurm.run("scontrol", "update", "nodename=train-2", "state=resume")
    assert run(slurm, ends=ends).returncode == 0
    assert draining() == ["train-1", "train-2"]

    last = run(slurm, ends=datetime.now(UTC))
    assert last.returncode == 0, last.stderr
    slurm.until("they wait again", lambda: slurm.job(endless, "%T") == slurm.job(short, "%T") == "PENDING")
    assert slurm.job(elsewhere, "%T") == "RUNNING"

    # Nodes that Slurm does not know are an error, of which the topic is notified.
    unknown = run(slurm, ends=ends, nodes="none-[1-2]")
    assert unknown.returncode == 1
    assert "not drained" in unknown.stderr
