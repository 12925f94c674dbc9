"""The gate of a long job on a real Slurm: a bad node is left out, and the job starts on the spare one."""

import re
import resource
import shutil
import time
from collections.abc import Iterator

import pytest

from support.nccl_output import output
from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.boot import deep_check, scripts
from ultracluster.workloads import workload_files

pytestmark = pytest.mark.daemons

CLUSTER = """\
name: gate
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5.48xlarge, count: 4, spare: 3}
storage:
  lustre: {throughput: 20 GB/s}
"""
# The programs of the node on which they run: the nodes of the test are directories of one machine.
OF_NODE = """\
#!/bin/sh
node={directory}/nodes/$SLURMD_NODENAME
export ULTRACLUSTER_ROOT="$node/root" STAND_IN_STATE="$node/state" PATH="{directory}/programs/$SLURMD_NODENAME:$PATH"
exec bash {directory}/job-gate.sh "$@"
"""
# Rank 0 prints; the network of train-2 is slow.
ALL_REDUCE = """\
#!/bin/sh
[ "$SLURM_PROCID" = 0 ] || exit 0
speed=good
scontrol show hostnames "$SLURM_STEP_NODELIST" | grep -qxFf {directory}/slow && speed=slow
echo "$SLURM_STEP_NODELIST $speed" >>{directory}/tested
cat {directory}/$speed.txt
"""
# Debian has no library of PMIx where its srun looks for one, and the program of the test needs none.
SRUN = """\
#!/bin/bash
exec {srun} "${{@/#--mpi=pmix/--mpi=none}}"
"""
GIB = 2**30


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as running:
        here = running.directory
        (file,) = workload_files(running.cluster, "pretrain")
        assert "#SBATCH --nodes=4\n" in file.text, "three are spare"
        (here / "pretrain.sbatch").write_text(file.text)
        (here / "job-gate.sh").write_text(scripts.text("job-gate.sh"))
        (here / "good.txt").write_text(output({2 * GIB: 440.0, 16 * GIB: 480.0}))
        (here / "slow.txt").write_text(output({2 * GIB: 440.0, 16 * GIB: 300.0}))
        (here / "all_reduce_perf").write_text(ALL_REDUCE.format(directory=here))
        (here / "all_reduce_perf").chmod(0o755)
        (here / "programs").mkdir()
        (here / "programs/srun").write_text(SRUN.format(srun=shutil.which("srun")))
        (here / "programs/srun").chmod(0o755)
        for name, node in running.made.items():
            for item in deep_check("p5.48xlarge").files:
                node.file(item.path, item.text).chmod(int(item.mode, 8))
            gate = node.file("/usr/local/sbin/ultracluster-job-gate", OF_NODE.format(directory=here))
            gate.chmod(0o755)
            (here / "programs" / name).mkdir()
            shutil.copy(node.bin / "nvidia-smi", here / "programs" / name / "nvidia-smi")
        yield running


@pytest.fixture(autouse=True)
def _all_idle(slurm: RealSlurm) -> None:
    slurm.run("scancel", "--me")
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 7})
    (slurm.directory / "tested").unlink(missing_ok=True)
    (slurm.directory / "slow").write_text("")


def submit(slurm: RealSlurm, gate: str, *options: str, shell: str = "", payload: str = "exec sleep 600") -> str:
    return slurm.run(
        *("bash", "-euc", f'{shell}\nexec sbatch --parsable "$@" pretrain.sbatch', "submit", *options),
        PATH=f"{slurm.directory}/programs:{slurm.environment['PATH']}",
        PAYLOAD=f'echo "task on $SLURMD_NODENAME"; {payload}',
        GATE=gate,
        RUN=str(slurm.directory / "run"),
        NCCL_TEST=str(slurm.directory / "all_reduce_perf"),
        ULTRACLUSTER_ROOT=str(slurm.directory / "nodes/train-1/root"),
    )


def log(slurm: RealSlurm, job: str) -> str:
    path = slurm.directory / f"pretrain-{job}.out"
    return path.read_text() if path.exists() else ""


def tasks(slurm: RealSlurm, job: str) -> list[str]:
    return sorted(line.split()[-1] for line in log(slurm, job).splitlines() if line.startswith("task on"))


def test_a_slow_node_is_left_out_and_the_job_starts_on_the_spare_one(slurm: RealSlurm) -> None:
    (slurm.directory / "slow").write_text("train-2\n")
    # A task of an array submits it: sbatch passes on the variables of that task.
    job = submit(slurm, "nccl", shell="export SLURM_ARRAY_JOB_ID=900 SLURM_ARRAY_TASK_ID=1")
    slurm.start_now(job)
    slurm.until("the job runs on four nodes", lambda: len(tasks(slurm, job)) == 4)
    assert tasks(slurm, job) == ["train-3", "train-4", "train-5", "train-6"]
    assert " ExcNodeList=train-2 " in slurm.run("scontrol", "show", "job", job, "--oneliner")
    text = log(slurm, job)
    assert "bad node: train-2 17179869184 bytes: 300.00 GB/s, and 389.6 is the floor for 2 x p5.48xlarge" in text
    assert "pretrain: queued again without train-2\n" in text
    assert "pretrain: nodes tested, and no node of 4 is bad\n" in text
    # Both nodes of the slow pair were tested with a node of the good one.
    tested = (slurm.directory / "tested").read_text().splitlines()
    assert sorted(tested[:2]) == ["train-[1-2] slow", "train-[3-4] good"]
    assert sorted(tested[2:4]) == ["train-[1,3] good", "train-[2,4] slow"]
    assert sorted(tested[4:]) == ["train-[3-4] good", "train-[5-6] good"]
    # The gate drains nothing: train-2 is for the checks of the nodes, and for other jobs.
    assert slurm.states() == {"allocated": 4, "idle": 3}


def excluded(slurm: RealSlurm, job: str) -> set[str]:
    (field,) = re.findall(r" ExcNodeList=(\S+) ", slurm.run("scontrol", "show", "job", job, "--oneliner"))
    return set(field.split(","))


def test_a_job_that_is_queued_again_gets_repaired_nodes_and_none_that_its_user_excludes(slurm: RealSlurm) -> None:
    (slurm.directory / "slow").write_text("train-2\ntrain-5\n")
    job = submit(slurm, "nccl", "--exclude=train-7")
    slurm.start_now(job)
    slurm.until("train-5 is left out, too", lambda: excluded(slurm, job) == {"train-2", "train-5", "train-7"})
    slurm.start_now(job)
    slurm.until("the job runs on four nodes", lambda: len(tasks(slurm, job)) == 4)
    assert tasks(slurm, job) == ["train-1", "train-3", "train-4", "train-6"]
    (slurm.directory / "slow").write_text("")
    # Without those that were left out, three remain.
    slurm.lose("train-3")
    slurm.until("the job waits without nodes of its tests", lambda: excluded(slurm, job) == {"train-7"})
    slurm.start_now(job)
    slurm.until("the job runs on four nodes again", lambda: len(tasks(slurm, job)) == 8)
    assert "train-7" not in tasks(slurm, job)
    slurm.run("scancel", job)
    slurm.bring_back("train-3")


def test_a_job_whose_step_ends_before_its_script_gets_a_signal_waits_without_nodes_of_its_tests(
    slurm: RealSlurm,
) -> None:
    """A lost node ends srun, and each node signals the processes of the job by itself."""
    (slurm.directory / "slow").write_text("train-2\n")
    job = submit(slurm, "nccl", "--exclude=train-7")
    slurm.start_now(job)
    slurm.until("the job runs on four nodes", lambda: len(tasks(slurm, job)) == 4)
    assert excluded(slurm, job) == {"train-2", "train-7"}
    with slurm.held_script(job):
        slurm.lose("train-4")
        slurm.until("the job waits without nodes of its tests", lambda: excluded(slurm, job) == {"train-7"})
    slurm.run("scancel", job)
    slurm.bring_back("train-4")


def test_a_cancelled_job_stays_cancelled_where_its_step_ends_before_its_script_gets_a_signal(slurm: RealSlurm) -> None:
    """Of a job that ends, scontrol requeue makes one that waits."""
    payload = 'echo "{\\"step\\": 7}" >"$ULTRACLUSTER_JOB_STATE"; exec sleep 600'
    job = submit(slurm, "no", "--nodes=2", payload=payload)
    slurm.until("it has a step", lambda: len(tasks(slurm, job)) == 2)
    with slurm.held_script(job):
        slurm.run("scancel", job)
        slurm.until("its program has ended", lambda: "the job queues again" in log(slurm, job))
        time.sleep(1)
    slurm.until("it has ended", lambda: slurm.job(job, "%T") not in ("COMPLETING", "RUNNING"))
    assert slurm.job(job, "%T") == "CANCELLED"


def test_a_node_without_lustre_over_efa_is_left_out_and_a_fault_of_all_is_none_of_the_nodes(slurm: RealSlurm) -> None:
    note = "ok: /fsx runs over TCP: of a read of 4 MiB next to nothing went over EFA\n"
    kept = slurm.made["train-3"].root / "run/ultracluster/health/mounts"
    before = kept.read_text() if kept.exists() else "ok\n"
    slurm.made["train-3"].file("/run/ultracluster/health/mounts", note)
    job = submit(slurm, "nodes")
    slurm.start_now(job)
    slurm.until("the job runs on four nodes", lambda: len(tasks(slurm, job)) == 4)
    assert tasks(slurm, job) == ["train-4", "train-5", "train-6", "train-7"]
    assert "pretrain: bad node: train-3 /fsx runs over TCP" in log(slurm, job)
    assert not (slurm.directory / "tested").exists()
    slurm.run("scancel", job)
    slurm.until("all nodes are idle", lambda: slurm.states() == {"idle": 7})
    for node in slurm.made.values():
        node.file("/run/ultracluster/health/mounts", note)
    job = submit(slurm, "nodes")
    slurm.until("the job runs on four nodes", lambda: len(tasks(slurm, job)) == 4)
    assert "pretrain: 4 of 4 nodes are more than 2 that a test may leave out\n" in log(slurm, job)
    for node in slurm.made.values():
        node.file("/run/ultracluster/health/mounts", before)


def test_without_a_spare_node_the_job_starts_on_all(slurm: RealSlurm) -> None:
    (slurm.directory / "slow").write_text("train-2\n")
    job = submit(slurm, "nccl", "--nodes=7")
    slurm.until("the job runs on seven nodes", lambda: len(tasks(slurm, job)) == 7)
    assert "pretrain: train has 6 nodes without train-2, and the job needs 7\n" in log(slurm, job)


def test_a_job_has_the_limits_of_its_nodes_and_not_of_the_shell_that_submits_it(slurm: RealSlurm) -> None:
    """A Session Manager shell may lock 8 MiB, with which EFA fails, and has 1,024 open files."""
    assert "PropagateResourceLimits = ALL" in slurm.run("scontrol", "show", "config")
    job = submit(slurm, "no", shell="ulimit -Sl 64 -Sn 512", payload='echo "limits $(ulimit -Sl) $(ulimit -Sn)"')
    slurm.until("the job has ended", lambda: log(slurm, job).count("limits ") == 4)
    limits = {line for line in log(slurm, job).splitlines() if line.startswith("limits ")}
    # slurmd raises its own number of files to what it may have.
    locked, files = (resource.getrlimit(kind) for kind in (resource.RLIMIT_MEMLOCK, resource.RLIMIT_NOFILE))
    kib = "unlimited" if locked[0] == resource.RLIM_INFINITY else locked[0] // 1024
    assert limits in ({f"limits {kib} {files[0]}"}, {f"limits {kib} {files[1]}"})


def test_the_last_task_of_an_array_is_queued_again_alone(slurm: RealSlurm) -> None:
    """Its job number is that of the array, which scontrol takes for all tasks."""
    note = "ok: /fsx runs over TCP: of a read of 4 MiB next to nothing went over EFA\n"
    file = slurm.made["train-3"].root / "run/ultracluster/health/mounts"
    before = file.read_text() if file.exists() else "ok\n"
    slurm.made["train-3"].file("/run/ultracluster/health/mounts", note)
    payload = 'until [ -e "$CHECKPOINT_REQUEST-$SLURM_ARRAY_TASK_ID" ]; do sleep 0.2; done'
    array = submit(slurm, "nodes", "--array=1-2", "--nodes=2", payload=payload)
    last = f"{array}_2"
    slurm.until("the last one waits without train-3", lambda: excluded(slurm, last) == {"train-3"})
    other = slurm.job(f"{array}_1", "%A")
    slurm.start_now(last)
    slurm.until("both run", lambda: len(tasks(slurm, array)) == len(tasks(slurm, other)) == 2)
    assert "train-3" not in tasks(slurm, array)
    assert excluded(slurm, f"{array}_1") == {"(null)"}
    # It writes a checkpoint in time.
    slurm.run("scancel", "--signal=USR1", "--batch", last)
    (slurm.directory / "run/checkpoint-request-2").touch()
    slurm.until("the last one waits again", lambda: slurm.job(last, "%T") == "PENDING")
    assert slurm.job(f"{array}_1", "%T") == "RUNNING"
    assert "pretrain: start 0" in log(slurm, other)
    slurm.made["train-3"].file("/run/ultracluster/health/mounts", before)


def test_a_heterogeneous_job_leaves_a_bad_node_out_of_its_first_component_and_is_queued_as_a_whole(
    slurm: RealSlurm,
) -> None:
    """Of its number, scontrol shows and changes all components."""
    note = "ok: /fsx runs over TCP: of a read of 4 MiB next to nothing went over EFA\n"
    file = slurm.made["train-2"].root / "run/ultracluster/health/mounts"
    before = file.read_text() if file.exists() else "ok\n"
    slurm.made["train-2"].file("/run/ultracluster/health/mounts", note)
    payload = 'until [ -e "$CHECKPOINT_REQUEST" ]; do sleep 0.2; done'
    others = (":", "--nodes=1", "--exclusive", "--partition=train", "--exclude=train-6")
    job = submit(slurm, "nodes", "--nodes=2", "--exclude=train-7", *others, payload=payload)
    first, last = (f"{job}+{number}" for number in (0, 1))
    slurm.until("it waits without train-2", lambda: excluded(slurm, first) == {"train-2", "train-7"})
    assert excluded(slurm, last) == {"train-6"}
    slurm.start_now(job)
    slurm.until("the job runs on two nodes", lambda: len(tasks(slurm, job)) == 2)
    assert not {"train-2", "train-7"} & {*tasks(slurm, job)}
    # Near its time limit.
    slurm.run("scancel", "--signal=USR1", "--batch", job)
    slurm.until("all of it waits", lambda: slurm.job(job, "%T").splitlines() == ["PENDING"] * 2)
    slurm.until("without nodes of its tests", lambda: excluded(slurm, first) == {"train-7"})
    assert excluded(slurm, last) == {"train-6"}
    slurm.made["train-2"].file("/run/ultracluster/health/mounts", before)
