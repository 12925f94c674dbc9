"""Directories on the shared file system, which users must not create for each other; with files of several users."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support import ROOT
from ultracluster.boot import scripts
from ultracluster.clusterfile import load
from ultracluster.workloads import slurm_jobs

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="needs files of several users")
ADA, BOB = 2001, 2002
MOUNTED = "36 25 0:50 / /fsx rw,nosuid - lustre 10.0.0.1@tcp:/fsx rw\n"


class Node:
    """A node with a shared file system."""

    def __init__(self, root: Path) -> None:
        self.root, self.fsx = root, root / "fsx"
        for name in ("fsx", "bin", "etc/ultracluster", "proc/self"):
            (root / name).mkdir(parents=True)
        root.chmod(0o755)
        self.fsx.chmod(0o1777)
        (root / "etc/ultracluster/shared").write_text("/fsx\n")
        (root / "proc/self/mountinfo").write_text(MOUNTED)
        users = {"ubuntu": 1000, "ada": ADA, "jobs": 2003}
        (root / "users").write_text("".join(f"{name}:x:{uid}:{uid}:::\n" for name, uid in users.items()))
        (root / "bin/getent").write_text(f"#!/bin/sh\nawk -F: -v n=$2 '$1 == n || $3 == n' {root}/users\n")
        (root / "bin/getent").chmod(0o755)

    def run(self, *uids: int) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-c", scripts.text("user-directories.sh"), "user-directories", *map(str, uids)]
        variables = {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "ULTRACLUSTER_ROOT": str(self.root)}
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)

    def as_user(self, uid: int, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        user = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "bash", "-c", command]
        environment = {"PATH": f"{self.root}/bin:{os.environ['PATH']}", **variables}
        return subprocess.run(
            user, env=environment, cwd=self.fsx, capture_output=True, text=True, check=False, timeout=60
        )

    def job(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a job of Ada that needs an image with a layer."""
        jobs = slurm_jobs(load(str(ROOT / "examples/slurm-512-gpus.yaml")))
        text = next(job.text for job in jobs if job.path == "train/torchtitan.sbatch")
        text = re.sub(r"(?m)(?<=^shared=)/fsx|/fsx(?=/\$USER)", str(self.fsx), text)
        (self.root / "bin/srun").write_text('#!/bin/sh\necho "$@"\n')
        (self.root / "bin/squeue").write_text("#!/bin/sh\n")
        # Its import and its export have the file after --output.
        (self.root / "bin/enroot").write_text(
            '#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 != --output ] || touch "$2"; shift; done\n'
        )
        for name in ("srun", "squeue", "enroot"):
            (self.root / "bin" / name).chmod(0o755)
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NAME": "job"}
        return self.as_user(ADA, text, **slurm, **variables, USER="ada", GATE="no")


@pytest.fixture
def node() -> Iterator[Node]:
    # Not in pytest's directory, which is for one user alone.
    with TemporaryDirectory() as folder:
        yield Node(Path(folder))


def test_each_user_has_a_directory_that_is_his_alone(node: Node) -> None:
    assert node.run(ADA, 2003, 4711).returncode == 0
    created = {path.name: (path.stat().st_uid, path.stat().st_mode & 0o7777) for path in node.fsx.iterdir()}
    assert created == {"ada": (ADA, 0o700), "ubuntu": (1000, 0o700)}, (
        "neither a directory of the cluster, nor one of a user who is not known"
    )
    assert node.as_user(BOB, "mv ada bob || rmdir ada").returncode != 0
    (node.fsx / "ada").chmod(0o755)
    done = node.run(ADA)
    assert (done.returncode, done.stderr) == (0, "")
    assert (node.fsx / "ada").stat().st_mode & 0o7777 == 0o755, "the user may share it"


def test_one_that_a_node_left_to_root_is_handed_over(node: Node) -> None:
    (node.fsx / "ada").mkdir(0o700)
    assert node.run(ADA).returncode == 0
    assert (node.fsx / "ada").stat().st_uid == ADA


@pytest.mark.parametrize("attack", ["mkdir -m 0777 ada", "ln -s /etc ada", "touch ada"])
def test_what_another_user_put_there_is_kept_and_refused(node: Node, attack: str) -> None:
    assert node.as_user(BOB, attack).returncode == 0
    before = (node.fsx / "ada").lstat()
    etc = Path("/etc").stat()
    done = node.run(ADA)
    assert done.returncode == 1
    assert f"{node.fsx}/ada does not belong to user {ADA}" in done.stderr
    assert (node.fsx / "ada").lstat() == before
    assert Path("/etc").stat() == etc


@pytest.mark.parametrize("case", ["not mounted", "automount", "everybody's", "no shared file system"])
def test_where_root_cannot_create_safely_it_creates_nothing(node: Node, case: str) -> None:
    if case == "not mounted":
        (node.root / "proc/self/mountinfo").write_text(MOUNTED.replace("/fsx rw", "/data rw"))
    elif case == "automount":
        (node.root / "proc/self/mountinfo").write_text(MOUNTED.replace("lustre", "autofs"))
    elif case == "everybody's":
        node.fsx.chmod(0o777)
    else:
        (node.root / "etc/ultracluster/shared").unlink()
    assert node.run(ADA).returncode == 0
    assert not list(node.fsx.iterdir())


@pytest.mark.parametrize("attack", ["mkdir -m 0777 ada", "mkdir -m 0777 evil; ln -s evil ada"])
def test_a_job_uses_nothing_in_a_directory_that_another_user_created(node: Node, attack: str) -> None:
    assert node.as_user(BOB, attack).returncode == 0
    done = node.job()
    assert done.returncode != 0
    assert f"{node.fsx}/ada must be yours, and writable for you alone" in done.stderr


@pytest.mark.parametrize(
    ("before", "fix"),
    [
        (
            "chown root:root {0}",
            "owner root, group root, mode 755: have your administrator run chown -h ada {0}, or set RUN",
        ),
        ("chmod 0777 {0}", "mode 777: run chmod go-w {0}, or set RUN"),
        ("chmod 0775 {0}", None),
        ("chgrp 3000 {0}; chmod 2775 {0}", "mode 2775: run chmod go-w {0}, or set RUN"),
        ("chown 2002 {0}/torchtitan/7", "have your administrator run chown -h ada {0}/torchtitan/7, or set RUN"),
        ("chown 2002:2002 {0}/torchtitan; chmod 777 {0}/torchtitan", "chown -h ada {0}/torchtitan, or set RUN"),
        ("chmod 0755 {0}; mv {0} {0}-2; ln -s ada-2 {0}", None),
        ("chmod 0755 {0}; mv {0} {0}-2; ln -s ada-2 {0}; chown -h 2001 {0}", None),
        ("mv {0} {0}-2; ln -s ada-2 {0}; chown -h 2002 {0}", "replace the link, or set RUN"),
    ],
)
def test_a_directory_stops_only_jobs_that_use_it(node: Node, before: str, fix: str | None) -> None:
    directory = f"{node.fsx}/ada"
    ada = node.fsx / "ada"
    for path in (ada, ada / "torchtitan", ada / "torchtitan/7"):
        path.mkdir()
        os.chown(path, ADA, ADA)
    subprocess.run(["bash", "-c", before.format(directory)], check=True)
    done = node.job(IMAGE="/fsx/project/image.sqsh", RUN=f"{node.fsx}/project")
    assert "--container-image=/fsx/project/image.sqsh" in done.stdout, done.stderr
    done = node.job(IMAGE="/fsx/project/image.sqsh")
    assert (done.returncode == 0) is (fix is None), done.stderr
    assert (fix or "").format(directory) in done.stderr


def test_a_job_makes_its_image_once_and_runs_none_of_another_user(node: Node) -> None:
    """The name of an image with a layer is one that everybody knows."""
    assert node.run(ADA).returncode == 0
    done = node.job()
    assert f"--container-image={node.fsx}/ada/containers/" in done.stdout, done.stderr
    for image in (node.fsx / "ada/containers").glob("*~*.sqsh"):
        os.chown(image, BOB, BOB)
    done = node.job()
    assert done.returncode != 0
    assert "sqsh must be yours, and writable for you alone" in done.stderr
