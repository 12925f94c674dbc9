"""The directory of a job on the local disks, which prolog and epilog create and remove, in bash with real files."""

import os
from pathlib import Path

import pytest

from support.boot_scripts import boots
from support.clusterfile_data import read
from support.node_boot.gpu_node import GpuNode
from support.waiting import wait_until
from ultracluster.boot import LocalScratch

#: Only root can give a directory to another user.
USER = 2001 if os.getuid() == 0 else os.getuid()
JOB = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": str(USER)}


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    node = GpuNode(tmp_path)
    for file in LocalScratch(path="/nvme").for_jobs().files:
        node.file(file.path, file.text).chmod(int(file.mode, 8))
    node.file("/run/ultracluster/health/local-scratch", "ok\n")
    scratch(node).mkdir()
    scratch(node).chmod(0o1777)
    return node


def scratch(node: GpuNode) -> Path:
    return node.root / "nvme"


def is_empty(node: GpuNode) -> bool:
    return not list(scratch(node).iterdir())


def test_a_job_has_a_directory_of_its_own_until_it_ends(node: GpuNode) -> None:
    assert node.call("prolog", **JOB).returncode == 0
    directory = scratch(node) / "77"
    status = directory.stat()
    assert (status.st_mode & 0o7777, status.st_uid) == (0o700, USER)
    (directory / "shards").mkdir()
    (directory / "shards" / "0").write_text("tokens")
    (scratch(node) / "cache").mkdir()
    done = node.call("epilog", **JOB)
    assert (done.returncode, done.stderr) == (0, "")
    assert not directory.exists(), "its name is free at once"
    wait_until("its files are deleted", lambda: [path.name for path in scratch(node).iterdir()] == ["cache"])


def test_the_epilog_does_not_wait_for_the_deletion(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    (scratch(node) / "77" / "shard").touch()
    (node.bin / "rm").unlink()
    waits = "while [[ $* == *.removed* && ! -e $STAND_IN_STATE/go ]]; do sleep 0.1; done"
    (node.bin / "rm").write_text(f'#!/bin/bash\n{waits}\nexec /bin/rm "$@"\n')
    (node.bin / "rm").chmod(0o755)
    done = node.call("epilog", **JOB)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (scratch(node) / "77").exists()
    assert not is_empty(node)
    node.says("go")
    wait_until("it is deleted", lambda: is_empty(node))


def test_a_requeued_job_begins_with_an_empty_directory(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    (scratch(node) / "77" / "half").write_text("of the first attempt")
    assert node.call("prolog", **JOB).returncode == 0
    assert list((scratch(node) / "77").iterdir()) == []


def test_what_another_user_put_there_is_replaced_and_a_link_is_not_followed(node: GpuNode) -> None:
    other = node.root / "other"
    other.mkdir()
    (other / "thesis").write_text("mine")
    (scratch(node) / "77").symlink_to(other)
    assert node.call("prolog", **JOB).returncode == 0
    assert not (scratch(node) / "77").is_symlink()
    assert node.call("epilog", **JOB).returncode == 0
    wait_until("the link is deleted", lambda: is_empty(node))
    assert (other / "thesis").read_text() == "mine"
    assert other.stat().st_uid == os.getuid()


def test_what_a_reboot_left_is_deleted_with_the_next_job(node: GpuNode) -> None:
    left = scratch(node) / ".removed-AAAAAAAA"
    (left / "job").mkdir(parents=True)
    (scratch(node) / ".removed-file").touch()
    node.call("prolog", **JOB)
    node.call("epilog", **JOB)
    wait_until("it is deleted", lambda: [path.name for path in scratch(node).iterdir()] == [".removed-file"])


@pytest.mark.parametrize("state", ["failed: 7 of 8 local disks are there\n", None])
def test_without_the_volume_nothing_is_written_to_the_root_volume(node: GpuNode, state: str | None) -> None:
    health = node.root / "run/ultracluster/health/local-scratch"
    health.unlink()
    if state:
        health.write_text(state)
    assert node.call("prolog", **JOB).returncode == 0
    assert is_empty(node)


def test_nodes_with_local_disks_have_it_with_the_path_of_the_file() -> None:
    cluster = read("storage: {", "storage: {scratch: {path: /nvme}, ")
    files = {name: files for name, (files, _) in boots(cluster).items()}
    paths = {name: files[name].get("etc/ultracluster/scratch") for name in files}
    assert set(paths.values()) == {"/nvme\n", None}, "nodes of jobs, and login nodes without disks"
