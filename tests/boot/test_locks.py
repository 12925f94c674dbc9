"""Locks of a node's programs. flock(2) takes an exclusive lock of a file that was opened to be read."""

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support import ROOT
from support.node_boot import Node

SCRIPTS = ROOT / "constructs" / "ultracluster" / "boot" / "scripts"
# Their directory is root's alone.
PRIVATE = {"import-image.sh", "software-packages.sh", "apply-platform.sh"}
# They create their files before a user has the node. A byte of a boot script replaces the nodes of clusters that run.
EARLY = {
    f"{name}.sh"
    for name in ("drain-on-failure", "local-scratch", "lustre-efa", "mount-check", "node-scripts", "seed-home")
}


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.sh")), ids=lambda path: path.stem)
def test_only_root_may_open_the_file_of_a_lock(script: Path) -> None:
    if script.name in PRIVATE:
        return
    text = script.read_text()
    # A mode that is set later is too late: who has opened the file holds it as long as he likes.
    form = r'umask 077\n *exec [0-9]>>?"[^"]*lock"\n *umask 022\n'
    if script.name in EARLY:
        form = r'exec [0-9]>>?("[^"]*lock")\n *chmod 600 \1\n'
    assert len(re.findall(form, text)) == len(re.findall(r"exec [0-9]>>?\"", text))


def test_a_job_cannot_hold_the_lock_of_the_check_of_mounts() -> None:
    # Not in pytest's directory, which is for one user alone.
    with TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        node = Node(root)
        node.should_mount("/fsx lustre required")
        node.run("mount-check", "--first", "0")
        (lock,) = root.rglob("mounts/lock")
        readable = lock.with_name("readable")
        readable.touch(0o644)
        assert hold(readable) == (0, "")
        assert hold(lock)[0] != 0
        assert "Permission denied" in hold(lock)[1]


def hold(file: Path) -> tuple[int, str]:
    """Lock a file as a user without rights."""
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run([*user, "flock", "--nonblock", str(file), "true"], capture_output=True, text=True)
    return done.returncode, done.stderr
