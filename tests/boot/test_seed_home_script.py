"""The home of the image's own user on shared home directories, in bash, with stand-ins for what needs root."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ultracluster.boot import scripts, seed_home_boot

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH1111111111111111111111111111111111111111111 team\n"
# A bind mount of / is a link to the root volume here; as root, chown is the real one.
STAND_INS = {
    "getent": '[ "$2" = ubuntu ] && echo "ubuntu:x:1000:1000:Ubuntu:/home/ubuntu:/bin/bash"',
    "mountpoint": "exit 1",
    "mount": 'rmdir "$3" && ln -s "$VOLUME" "$3"',
    "umount": 'rm "$1"',
    "systemctl": 'echo "systemctl $*" >>"$VOLUME/log"',
}
IS_ROOT = os.geteuid() == 0


class Node:
    """A node: its root volume, and the root as its processes see it, with the shared home mounted."""

    def __init__(self, folder: Path, shared: Path, key: str = KEY) -> None:
        self.root, self.volume, self.bin = folder / "root", folder / "volume", folder / "bin"
        for created in (self.root / "etc/ssh/sshd_config.d", self.volume / "home/ubuntu/.ssh", self.bin):
            created.mkdir(parents=True)
        (self.root / "home").symlink_to(shared)
        (self.volume / "home/ubuntu/.bashrc").write_text("# image\n")
        (self.volume / "etc/skel").mkdir(parents=True)
        (self.volume / "home/ubuntu/.ssh").chmod(0o700)
        if key:
            (self.volume / "home/ubuntu/.ssh/authorized_keys").write_text(key)
            (self.volume / "home/ubuntu/.ssh/authorized_keys").chmod(0o600)
        stand_ins = STAND_INS if IS_ROOT else {**STAND_INS, "chown": 'echo "chown $*" >>"$VOLUME/log"'}
        for name, body in stand_ins.items():
            (self.bin / name).write_text(f"#!/bin/bash\n{body}\n")
            (self.bin / name).chmod(0o755)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", scripts.text("seed-home.sh"), "seed-home", *(arguments or ("/home",))],
            env={"PATH": f"{self.bin}:/usr/bin:/bin", "ULTRACLUSTER_ROOT": str(self.root), "VOLUME": str(self.volume)},
            capture_output=True,
            text=True,
            timeout=180,
        )


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_the_first_node_copies_the_home_with_owner_and_modes(tmp_path: Path, shared: Path) -> None:
    node = Node(tmp_path / "a", shared)
    done = node.run()
    assert (done.returncode, done.stderr) == (0, "")
    home = shared / "ubuntu"
    assert (home / ".bashrc").read_text() == "# image\n"
    assert (mode(home / ".ssh"), mode(home / ".ssh/authorized_keys")) == (0o700, 0o600)
    if IS_ROOT:
        assert {path.stat().st_uid for path in (home, home / ".ssh", home / ".ssh/authorized_keys")} == {1000}
    else:
        assert "chown --no-dereference --recursive 1000:1000" in (node.volume / "log").read_text()
    assert node.run().stdout == "", "the second boot copies nothing"


def test_files_that_are_there_stay_as_they_are(tmp_path: Path, shared: Path) -> None:
    Node(tmp_path / "a", shared).run()
    (shared / "ubuntu/.bashrc").write_text("# mine\n")
    (shared / "ubuntu/.ssh/authorized_keys").unlink()
    assert Node(tmp_path / "b", shared).run().returncode == 0
    assert (shared / "ubuntu/.bashrc").read_text() == "# mine\n"
    assert not (shared / "ubuntu/.ssh/authorized_keys").exists(), "a key that was taken away does not come back"


def test_a_home_of_others_is_not_touched(tmp_path: Path, shared: Path) -> None:
    (shared / "ubuntu").mkdir(mode=0o755)
    owner = (shared / "ubuntu").stat().st_uid
    assert Node(tmp_path / "a", shared).run().returncode == 0
    assert list((shared / "ubuntu").iterdir()) == []
    assert (shared / "ubuntu").stat().st_uid == owner


def test_a_copy_that_was_interrupted_is_completed(tmp_path: Path, shared: Path) -> None:
    (shared / "ubuntu").mkdir()
    (shared / ".ultracluster-seeding-ubuntu").touch()
    assert Node(tmp_path / "a", shared).run().returncode == 0
    assert (shared / "ubuntu/.bashrc").exists()
    assert not (shared / ".ultracluster-seeding-ubuntu").exists()


def test_the_keys_of_each_node_open_that_node(tmp_path: Path, shared: Path) -> None:
    compute, login = Node(tmp_path / "a", shared, key=""), Node(tmp_path / "b", shared)
    compute.run()
    login.run()
    assert not (compute.root / "etc/ultracluster").exists()
    keys = login.root / "etc/ultracluster/authorized_keys/ubuntu"
    assert (keys.read_text(), mode(keys)) == (KEY, 0o644)
    config = login.root / "etc/ssh/sshd_config.d/50-ultracluster.conf"
    assert config.read_text() == "AuthorizedKeysFile .ssh/authorized_keys /etc/ultracluster/authorized_keys/%u\n"
    assert "systemctl reload ssh" in (login.volume / "log").read_text()


def test_nodes_that_boot_together_copy_once(tmp_path: Path, shared: Path) -> None:
    nodes = [Node(tmp_path / str(number), shared) for number in range(6)]
    with ThreadPoolExecutor(len(nodes)) as pool:
        results = list(pool.map(Node.run, nodes))
    assert [result.returncode for result in results] == [0] * len(nodes)
    assert sum("copied the home" in result.stdout for result in results) == 1


@pytest.mark.parametrize(("arguments", "code"), [(("/shared",), 0), ((), 0), (("/home", "more"), 2)])
def test_other_mounts_have_nothing_to_copy(tmp_path: Path, shared: Path, arguments: tuple[str, ...], code: int) -> None:
    node = Node(tmp_path / "a", shared)
    assert node.run(*arguments).returncode == code
    assert (shared / "ubuntu").exists() is (arguments == ())


def test_a_failure_is_none_of_the_boot() -> None:
    (unit,) = (file.text for file in seed_home_boot().files if file.path.endswith(".service"))
    assert "ExecStart=-/usr/local/sbin/ultracluster-seed-home /home\n" in unit
