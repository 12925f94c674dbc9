"""The import of a container image by users of a node: real sudo, real users, in a real root file system.

Only Enroot is a stand-in. The rule, the program and the directories are those that a node gets.
"""

from pathlib import Path

import pytest

from support import ROOT
from support.root_file_system import Machine
from ultracluster import clusterfile
from ultracluster.boot import images_boot
from ultracluster.cli._image_import import _command

IMAGE = "public.ecr.aws#hpc-cloud/nccl-tests:2.18"
FILE = "/fsx/containers/public.ecr.aws%hpc-cloud+nccl-tests=2.18-x86_64.sqsh"
PROGRAM = "/usr/local/sbin/ultracluster-import-image"
# Enroot reports who it is and what it is given, and tries what the code of an image would.
ENROOT = """\
#!/usr/bin/env bash
{ id -un; id -Gn; env; } >/enroot/seen
touch /fsx/containers/evil /fsx/containers/.locks/evil /etc/evil /root/evil 2>/dev/null
mv -f /fsx/containers /fsx/other 2>/dev/null
sudo -n -l >/enroot/sudo 2>&1
export ENROOT_LOG=/enroot/log
exec bash /enroot/import.sh "$@"
"""


@pytest.fixture
def node(tmp_path: Path) -> Machine:
    """A node with two users, whose /fsx is open to all."""
    machine = Machine(tmp_path / "machine")
    for file in images_boot("/fsx").files:
        machine.write(file.path, file.text, int(file.mode, 8))
    machine.write("/usr/local/bin/enroot", ENROOT, 0o755)
    machine.write("/enroot/import.sh", (ROOT / "tests/support/real_slurm/enroot.sh").read_text())
    done = machine.run(
        *("bash", "-euc"),
        "chown root:root /etc/sudoers.d/ultracluster-images /usr/local/sbin/* /usr/local/bin/enroot\n"
        "chmod 1777 /enroot; install -d -m 1777 /fsx\n"
        "for user in ana:x:20001 bob:x:20002; do\n"
        "echo $user:${user##*:}::/home/${user%%:*}:/bin/sh >>/etc/passwd\n"
        "echo $user: >>/etc/group\n"
        "echo ${user%%:*}:!:20000:0:99999:7::: >>/etc/shadow\n"
        "done",
    )
    assert done.returncode == 0, done.stderr
    return machine


def as_user(machine: Machine, name: str, *command: str, **environment: str) -> tuple[int, str, str]:
    done = machine.run("setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups", *command, **environment)
    return done.returncode, done.stdout, done.stderr


def test_sudo_accepts_the_rule(node: Machine) -> None:
    done = node.run("visudo", "--check")
    assert done.returncode == 0, done.stderr
    assert "/etc/sudoers.d/ultracluster-images: parsed OK" in done.stdout


def test_a_user_imports_an_image_that_enroot_unpacks_without_rights(node: Machine) -> None:
    environment = {"ULTRACLUSTER_ROOT": "/home/ana", "BASH_ENV": "/home/ana/evil", "ENROOT_CONFIG_PATH": "/home/ana"}
    rc, out, err = as_user(node, "ana", "sudo", "-n", PROGRAM, IMAGE, **environment)
    assert (rc, out) == (0, f"{FILE}\n"), err
    user, groups, *variables = node.read("/enroot/seen").splitlines()
    assert (user, groups) == ("ultracluster-images", "ultracluster-images")
    assert not [line for line in variables if "ana" in line or line.startswith(("SUDO_", "BASH_ENV", "ULTRACLUSTER"))]
    shown = node.run("stat", "--format", "%U %a", FILE, "/fsx/containers", "/fsx/containers/.locks").stdout
    assert shown.splitlines() == ["root 444", "root 755", "root 700"]
    evil = [path for name in ("fsx", "etc", "root") for path in (node.upper / name).rglob("evil")]
    assert evil == [], "the code of an image reaches nothing of root's"
    # The second user gets the file of the first one.
    assert as_user(node, "bob", "sudo", "-n", PROGRAM, f"docker://{IMAGE}")[:2] == (0, f"{FILE}\n")
    assert node.read("/enroot/log").splitlines() == [f"docker://{IMAGE}"]


@pytest.mark.parametrize(
    "attempt",
    [
        f"echo x >{FILE}",
        f"rm -f {FILE}",
        f"mv {FILE} /fsx/mine",
        "mv /fsx/containers /fsx/mine",
        "rm -rf /fsx/containers",
    ],
)
def test_no_user_changes_what_another_one_runs(node: Machine, attempt: str) -> None:
    assert as_user(node, "ana", "sudo", "-n", PROGRAM, IMAGE)[0] == 0
    before = node.run("sha256sum", FILE).stdout
    assert as_user(node, "bob", "bash", "-c", attempt)[0] != 0
    assert node.run("sha256sum", FILE).stdout == before != ""


@pytest.mark.parametrize(
    "command",
    [
        ("id",),
        ("enroot", "version"),
        ("--user=bob", PROGRAM, IMAGE),
        ("ENROOT_CONFIG_PATH=/home/ana", PROGRAM, IMAGE),
        ("--preserve-env", PROGRAM, IMAGE),
    ],
)
def test_the_rule_allows_the_program_as_root_and_nothing_else(node: Machine, command: tuple[str, ...]) -> None:
    rc, _, err = as_user(node, "ana", "sudo", "-n", *command)
    assert rc == 1
    assert "sudo: " in err
    assert not node.has("/enroot/seen")


def test_the_lines_of_ultracluster_image_import_run_in_the_shell_of_systems_manager(node: Machine) -> None:
    cluster = clusterfile.load(ROOT / "examples" / "slurm-512-gpus.yaml")
    # The agent runs them as root, without a terminal, by sh.
    done = node.run("sh", "-c", "\n".join(_command(cluster, [IMAGE, "no-image//x"])))
    assert (done.returncode, done.stdout) == (1, f"{FILE}\n"), done.stderr
    assert "'no-image//x' is not a public image" in done.stderr
    done = node.run("sh", "-c", "\n".join(_command(cluster, [])))
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) == len(done.stdout.split()) >= 1
