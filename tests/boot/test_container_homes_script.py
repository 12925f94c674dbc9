"""The directories of Enroot, which users must not create for each other; in bash, with files of several users."""

import os
import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import scripts

CONF = """\
#ENROOT_DATA_PATH /elsewhere/user-$(id -u)
ENROOT_RUNTIME_PATH {0}/run/user-$(id -u)
ENROOT_CACHE_PATH {0}/cache/user-$(id -u)
ENROOT_DATA_PATH {0}/data/user-$(id -u)
ENROOT_TEMP_PATH {0}/tmp
ENROOT_ROOTFS_WRITABLE yes
"""
ADA = 2001


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "etc/enroot").mkdir(parents=True)
    (tmp_path / "etc/enroot/enroot.conf").write_text(CONF.format(tmp_path))
    for name in ("run", "cache", "data"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o1777)
    # Where the test is not root, a file that records who owns a directory.
    if os.getuid():
        (tmp_path / "bin").mkdir()
        for name, text in (
            ("chown", 'touch "$2/.of-$1"'),
            ("stat", '[ -e "${@: -1}/.of-2001" ] && echo 2001 directory'),
        ):
            (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
            (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(root: Path, *uids: int, **more: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", scripts.text("container-homes.sh"), "container-homes", *map(str, uids)]
    variables = {"PATH": f"{root}/bin:{os.environ['PATH']}", "ULTRACLUSTER_ROOT": str(root)} | more
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=60)


def directories(root: Path) -> list[Path]:
    return [root / name / f"user-{ADA}" for name in ("run", "cache", "data")]


def test_each_user_has_directories_that_are_his_alone(root: Path) -> None:
    assert run(root, ADA).returncode == 0
    for path in directories(root):
        assert path.stat().st_mode & 0o7777 == 0o700
        assert os.getuid() or path.stat().st_uid == ADA
        (path / "layer").touch()
    done = run(root, ADA)
    assert (done.returncode, done.stderr) == (0, "")
    assert all((path / "layer").exists() for path in directories(root)), "a second run keeps what is in them"


def test_containers_that_an_earlier_run_of_a_job_left_are_deleted(root: Path) -> None:
    run(root, ADA)
    data = root / f"data/user-{ADA}"
    # Pyxis names them by job and step; those of a user's choice have no number.
    names = ("pyxis_41.0", "pyxis_41.12", "pyxis_413.0", "pyxis_4.1", "pyxis_41", "pyxis_llama")
    for name in names:
        (data / name / "usr").mkdir(parents=True)
    assert run(root, ADA).returncode == 0
    assert all((data / name).exists() for name in names), "outside of a job nothing is deleted"
    done = run(root, ADA, SLURM_JOB_ID="41")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in data.glob("pyxis*")) == ["pyxis_4.1", "pyxis_41", "pyxis_413.0", "pyxis_llama"]


@pytest.mark.parametrize("kind", ["directory", "link", "file"])
def test_what_another_user_put_there_is_deleted(root: Path, kind: str) -> None:
    path = root / f"cache/user-{ADA}"
    kept = root / "kept"
    kept.mkdir()
    (kept / "file").touch()
    if kind == "directory":
        path.mkdir()
        path.chmod(0o777)
        (path / "layer").touch()
    elif kind == "link":
        path.symlink_to(kept)
    else:
        path.touch()
    done = run(root, ADA)
    assert done.returncode == 0, done.stderr
    assert f"{path} does not belong to user {ADA}, and is deleted" in done.stderr
    assert path.is_dir()
    assert not path.is_symlink()
    assert not (path / "layer").exists()
    assert (kept / "file").exists()


def test_a_node_without_enroot_has_none(root: Path) -> None:
    (root / "etc/enroot/enroot.conf").unlink()
    assert run(root, ADA).returncode == 0
    assert not any(path.exists() for path in directories(root))
