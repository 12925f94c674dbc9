"""Every job file in containers, on a real Slurm whose plugin has the options of Pyxis, with a stand-in for Enroot."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT
from support.ports import free_ports
from support.real_slurm import RealSlurm
from ultracluster import clusterfile
from ultracluster.boot import scripts
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
[ -z "$REQUEUE" ] || [ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue "$SLURM_JOB_ID"; exec sleep 600; }
echo "container $CONTAINER_IMAGE $CONTAINER_MOUNTS $CONTAINER_WORKDIR on $SLURMD_NODENAME with $SLURM_CPUS_ON_NODE CPUs"
# The first process of Dynamo that ends, ends all nodes.
case $* in *dynamo*) sleep 3 ;; esac
"""
# It ends with its parent: the cgroups of PCS have it, but without them Slurm would wait a minute for it.
ETCD = """\
#!/bin/sh
exec /usr/bin/python3 -c 'import os, socket
listening = socket.create_server(("", int(os.environ["ETCD_ENDPOINTS"].rpartition(":")[2])))
listening.settimeout(0.5)
parent = os.getppid()
while os.getppid() == parent:
    try:
        listening.accept()
    except TimeoutError:
        pass'
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
        for name in (*PROGRAMS, "ray", "etcd"):
            (bin / name).write_text({"ray": RAY, "etcd": ETCD}.get(name, PROGRAM))
            (bin / name).chmod(0o755)
        shutil.copy(ROOT / "tests" / "support" / "real_slurm" / "enroot.sh", bin / "enroot")
        (bin / "enroot").chmod(0o755)
        program = bin / "import-image"
        program.write_text(scripts.text("import-image.sh"))
        program.chmod(0o755)
        (running.directory / "etc/ultracluster").mkdir(parents=True)
        (running.directory / "etc/ultracluster/images").write_text("/fsx\n")
        yield running


def text(slurm: RealSlurm, job: JobFile) -> str:
    """The job file with the mounts below a directory of the test, and without MPI, which has no library here."""
    result = job.text.replace(" --mpi=pmix", "")
    result = result.replace("/usr/local/sbin/ultracluster-import-image", f"{slurm.directory}/bin/import-image")
    for name in MOUNTS:
        result = result.replace(f"/{name}", f"{slurm.directory}/{name}")
    assert f"shared={slurm.directory}/fsx\n" in result
    assert (
        job.path.endswith("import.sbatch")
        or f'mounts="{" ".join(f"{slurm.directory}/{name}" for name in MOUNTS)}"' in result
    )
    return result


JOBS = {Path(job.path).stem: job for job in slurm_jobs(clusterfile.loads(CLUSTER, "cluster.yaml"))}
CONTAINERS = [name for name in JOBS if name not in ("health", "import")]
DONE = ("COMPLETED", "FAILED", "")


def state(slurm: RealSlurm, id: str) -> str:
    return slurm.job(id, "%T")


def directory(slurm: RealSlurm, name: str) -> Path:
    """A directory of the job below /fsx."""
    here = slurm.directory / "fsx" / name
    here.mkdir()
    return here


def submit(slurm: RealSlurm, job: str, here: Path, *options: str, image: str, **variables: str) -> str:
    (here / "job.sbatch").write_text(text(slurm, JOBS[job]))
    arguments = [image] if job == "import" else ["train.py"]
    return slurm.run(
        *("sbatch", "--parsable", f"--chdir={here}", *options, f"{here}/job.sbatch", *arguments),
        PATH=f"{slurm.directory}/bin:{slurm.environment['PATH']}",
        NCCL_TESTS=f"{slurm.directory}/bin",
        ENROOT_LOG=str(slurm.directory / "imports"),
        ULTRACLUSTER_ROOT=str(slurm.directory),
        # Another user cannot enter the directory of the test.
        ULTRACLUSTER_IMPORTER="root",
        USER="ana",
        RUN=str(here / "run"),
        # The directory of the program in its image.
        MAXTEXT=str(here),
        IMAGE=image,
        ETCD_PORT=str(free_ports(1)[0]),
        **variables,
    )


def end(slurm: RealSlurm, id: str, here: Path) -> str:
    """The log of a job that has ended."""
    slurm.until("the job ends", lambda: state(slurm, id) in DONE)
    (log,) = here.glob(f"*-{id}.out")
    return log.read_text()


def imports(slurm: RealSlurm) -> list[str]:
    log = slurm.directory / "imports"
    return log.read_text().splitlines() if log.exists() else []


def image_file(slurm: RealSlurm, name: str) -> Path:
    """Path of an imported image: root imports for all, and without sudo others import for themselves."""
    user = "" if os.getuid() == 0 else "ana/"
    return slurm.directory / f"fsx/{user}containers/{name}-{os.uname().machine}.sqsh"


@pytest.mark.parametrize("job", CONTAINERS)
def test_a_container_has_every_mount_on_every_node(slurm: RealSlurm, job: str) -> None:
    here = directory(slurm, job)
    log = end(slurm, submit(slurm, job, here, image="docker://registry.io#image:1"), here)
    lines = [line for line in log.splitlines() if line.startswith("container ")]
    mounts = ",".join(f"{slurm.directory}/{name}:{slurm.directory}/{name}" for name in MOUNTS)
    assert lines, log
    image = image_file(slurm, "registry.io%image=1")
    assert {line.partition(" on ")[0] for line in lines} == {f"container {image} {mounts} {here}"}
    assert {line.partition(" on ")[2] for line in lines} <= {f"train-{node} with 192 CPUs" for node in (1, 2)}


@pytest.mark.parametrize(
    ("mounts", "refusal"),
    [
        ("fsx:/fsx", "mount source must be"),
        ("/tmp:fsx", "mount target must be"),
        ("/tmp:/tmp,", "invalid format"),
        ("/does/not/exist:/fsx", "failed to mount: /does/not/exist"),
    ],
)
def test_mounts_that_pyxis_or_enroot_refuses_end_the_task(slurm: RealSlurm, mounts: str, refusal: str) -> None:
    options = ["--immediate=60", "--container-image=docker://a#b:1", f"--container-mounts={mounts}"]
    done = subprocess.run(["srun", *options, "true"], env=slurm.environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert refusal in done.stderr


def test_one_of_two_jobs_imports_the_image_and_the_other_waits_for_it(slurm: RealSlurm) -> None:
    uri, hold = "docker://registry.io#two:1", slurm.directory / "imports.hold"
    hold.touch()
    where = [directory(slurm, f"two-{number}") for number in (1, 2)]
    first, second = (submit(slurm, "finetune", here, image=uri) for here in where)
    slurm.until("one imports", lambda: uri in imports(slurm))
    logs = [here / f"finetune-{id}.out" for here, id in zip(where, (first, second), strict=True)]
    slurm.until("one waits", lambda: any("waits for the import" in log.read_text() for log in logs if log.exists()))
    hold.unlink()
    texts = [end(slurm, id, here) for id, here in zip((first, second), where, strict=True)]
    assert all(f"container {image_file(slurm, 'registry.io%two=1')} " in text for text in texts), texts
    assert imports(slurm).count(uri) == 1


def test_an_import_that_fails_leaves_no_file_and_the_next_job_imports(slurm: RealSlurm) -> None:
    uri, fails = "docker://registry.io#half:1", slurm.directory / "imports.fail"
    fails.touch()
    here, file = directory(slurm, "half"), image_file(slurm, "registry.io%half=1")
    id = submit(slurm, "finetune", here, image=uri)
    assert f"cannot import {uri}" in end(slurm, id, here)
    assert (state(slurm, id), [path.name for path in file.parent.glob("*half*")]) == (
        "FAILED",
        [] if os.getuid() == 0 else [f"{file.name}.lock"],
    )
    fails.unlink()
    assert f"container {file} " in end(slurm, submit(slurm, "finetune", here, image=uri), here)


def test_an_import_that_was_killed_leaves_no_lock_and_half_a_file_that_no_job_takes(slurm: RealSlurm) -> None:
    uri, hold = "docker://registry.io#killed:1", slurm.directory / "imports.hold"
    here, file = directory(slurm, "killed"), image_file(slurm, "registry.io%killed=1")
    hold.touch()
    id = submit(slurm, "import", here, image=uri)
    slurm.until("the import has begun", lambda: uri in imports(slurm))
    slurm.run("scancel", id)
    slurm.until("the job has ended", lambda: state(slurm, id) == "CANCELLED")
    hold.unlink()
    assert f"container {file} " in end(slurm, submit(slurm, "finetune", here, image=uri), here)


def test_a_requeued_job_does_not_import_again(slurm: RealSlurm) -> None:
    uri, here = "docker://registry.io#again:1", directory(slurm, "again")
    id = submit(slurm, "finetune", here, image=uri, REQUEUE="yes")
    slurm.start_now(id)
    assert f"container {image_file(slurm, 'registry.io%again=1')} " in end(slurm, id, here)
    assert imports(slurm).count(uri) == 1


@pytest.mark.parametrize("uri", ["registry.io#Bad:1", "registry.io#image:not a tag"])
def test_an_address_that_enroot_refuses_fails_the_job(slurm: RealSlurm, uri: str) -> None:
    here = directory(slurm, f"bad-{len(uri)}")
    id = submit(slurm, "finetune", here, image=uri)
    assert "Invalid image reference" in end(slurm, id, here)
    assert state(slurm, id) == "FAILED"


def test_a_job_that_names_no_queue_runs_in_the_only_one(slurm: RealSlurm) -> None:
    # `sbatch --wait` would ask ever less often, up to every ten seconds.
    output = slurm.directory / "queue"
    id = slurm.run("sbatch", "--parsable", f"--output={output}", "--wrap=echo $SLURM_JOB_PARTITION")
    slurm.until("the job ends", lambda: state(slurm, id) in DONE)
    assert output.read_text() == "train\n"
