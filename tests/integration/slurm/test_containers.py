"""Every job file in containers, on a real Slurm whose plugin has the options of Pyxis and no Enroot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.workloads import JobFile, slurm_jobs

pytestmark = pytest.mark.daemons

CLUSTER = """\
name: containers
region: us-east-2
zone: use2-az1
orchestrator: slurm
nodes:
  train: {type: p5en.48xlarge, count: 2}
storage:
  lustre: {throughput: 20 GB/s}
  home: {}
"""
MOUNTS = ("fsx", "home", "scratch")
PROGRAMS = ("torchrun", "vllm", "all_reduce_perf", "python3")
# What a task of a container has. One line, so that those of several tasks do not mix.
PROGRAM = """\
#!/bin/sh
echo "container $CONTAINER_IMAGE $CONTAINER_MOUNTS $CONTAINER_WORKDIR on $SLURMD_NODENAME with $SLURM_CPUS_ON_NODE CPUs"
"""
RAY = """\
#!/bin/sh
case $1 in
    status) exit 1 ;;
    list) for node in $(seq "$SLURM_JOB_NUM_NODES"); do echo '"node_id": 1,'; done ;;
esac
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    with RealSlurm(clusterfile.loads(CLUSTER, "cluster.yaml")) as running:
        bin = running.directory / "bin"
        for directory in (bin, *(running.directory / name for name in MOUNTS)):
            directory.mkdir()
        for name in (*PROGRAMS, "ray"):
            (bin / name).write_text(RAY if name == "ray" else PROGRAM)
            (bin / name).chmod(0o755)
        yield running


def text(slurm: RealSlurm, job: JobFile) -> str:
    """The job file with the mounts below a directory of the test, and without MPI, which has no library here."""
    result = job.text.replace(" --mpi=pmix", "")
    for name in MOUNTS:
        result = result.replace(f"/{name}", f"{slurm.directory}/{name}")
    assert f'mounts="{" ".join(f"{slurm.directory}/{name}" for name in MOUNTS)}"' in result
    return result


JOBS = [job for job in slurm_jobs(clusterfile.loads(CLUSTER, "cluster.yaml")) if not job.path.endswith("health.sbatch")]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: Path(job.path).stem)
def test_a_container_has_every_mount_on_every_node(slurm: RealSlurm, job: JobFile) -> None:
    here = slurm.directory / "fsx" / Path(job.path).stem
    here.mkdir()
    (here / "job.sbatch").write_text(text(slurm, job))
    id = slurm.run(
        *("sbatch", "--parsable", f"--chdir={here}", f"{here}/job.sbatch", "train.py"),
        PATH=f"{slurm.directory}/bin:{slurm.environment['PATH']}",
        NCCL_TESTS=f"{slurm.directory}/bin",
        USER="ana",
        RUN=str(here / "run"),
        IMAGE="docker://registry#image:1",
    )
    done = ("COMPLETED", "FAILED", "")
    slurm.until("the job ends", lambda: slurm.run("squeue", "-h", f"-j{id}", "-tall", "-o%T") in done)
    (log,) = here.glob(f"*-{id}.out")
    lines = [line for line in log.read_text().splitlines() if line.startswith("container ")]
    mounts = ",".join(f"{slurm.directory}/{name}:{slurm.directory}/{name}" for name in MOUNTS)
    assert lines, log.read_text()
    assert {line.partition(" on ")[0] for line in lines} == {f"container docker://registry#image:1 {mounts} {here}"}
    assert {line.partition(" on ")[2] for line in lines} <= {f"train-{node} with 192 CPUs" for node in (1, 2)}


def test_a_job_that_names_no_queue_runs_in_the_only_one(slurm: RealSlurm) -> None:
    output = slurm.directory / "queue"
    slurm.run("sbatch", "--wait", f"--output={output}", "--wrap=echo $SLURM_JOB_PARTITION")
    assert output.read_text() == "train\n"
