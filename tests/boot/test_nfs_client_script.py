"""The script runs here in bash, as a node gets it; the package managers are stand-ins."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.node_boot import Node
from ultracluster.boot import LUSTRE_EFA_UNIT, Mount, efs_mount, openzfs_mount, slurm_boot
from ultracluster.boot._nfs_boot import NFS_CLIENT_UNIT, nfs_client_boot
from ultracluster.catalogue.ec2 import INSTANCE_TYPES

UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
AMAZON = 'NAME="Amazon Linux"\nVERSION_ID="2023"\nID="amzn"\nID_LIKE="fedora"\n'
APT = "apt-get --quiet --yes --option DPkg::Lock::Timeout=300"


def program(node: Node, name: str, text: str) -> None:
    created = node.bin / name
    created.unlink(missing_ok=True)
    created.write_text(f'#!/usr/bin/env bash\necho "{name} $*" >>"$STAND_IN_STATE/calls"\n{text}\n')
    created.chmod(0o755)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path, efa=0)
    created.file("/etc/os-release", UBUNTU)
    program(created, "sleep", "")
    installs = f'cp "$0" "{created.bin}/mount.nfs4"'
    for name in ("apt-get", "dnf"):
        program(
            created,
            name,
            f"""
fails=$(cat "$STAND_IN_STATE/{name}-fails" 2>/dev/null || echo 0)
case " $* " in
    *" update "*) [ ! -e "$STAND_IN_STATE/no-lists" ] ;;
    *" install "*) if [ "$fails" -gt 0 ]; then echo $((fails - 1)) >"$STAND_IN_STATE/{name}-fails"; exit 100; fi
        [ -e "$STAND_IN_STATE/empty-package" ] || {installs} ;;
esac""",
        )
    return created


def works(node: Node) -> str:
    done = node.run("nfs-client")
    assert (done.returncode, node.health("nfs-client")) == (0, "ok\n"), done.stderr
    return done.stdout


def fails(node: Node, *arguments: str, code: int = 1) -> str:
    done = node.run("nfs-client", *arguments)
    assert done.returncode == code, done.stdout
    assert done.stderr.splitlines(keepends=True)[-1] == f"nfs-client: {node.health('nfs-client')}"
    return node.health("nfs-client").removeprefix("failed: ")


def test_an_image_with_the_client_is_left_alone(node: Node) -> None:
    program(node, "mount.nfs4", "")
    assert "there already" in works(node)
    assert node.calls("apt-get") == node.calls("dnf") == []


def test_ubuntu_gets_nfs_common_and_a_second_run_changes_nothing(node: Node) -> None:
    assert "installed nfs-common" in works(node)
    called = [f"{APT} update", f"{APT} install --no-install-recommends nfs-common"]
    assert node.calls("apt-get") == called
    assert "there already" in works(node)
    assert node.calls("apt-get") == called


def test_amazon_linux_gets_nfs_utils(node: Node) -> None:
    node.file("/etc/os-release", AMAZON)
    works(node)
    assert node.calls("dnf") == ["dnf install --quiet --assumeyes nfs-utils"]
    assert node.calls("apt-get") == []


def test_lists_that_cannot_be_fetched_may_be_there_already(node: Node) -> None:
    node.says("no-lists")
    assert "going on" in works(node)


def test_a_mirror_that_fails_is_tried_again(node: Node) -> None:
    node.says("apt-get-fails", "2")
    works(node)
    assert len(node.calls("apt-get")) == 6


def test_a_node_without_a_mirror_reports_it_and_can_be_repaired(node: Node) -> None:
    node.says("apt-get-fails", "9")
    assert fails(node).startswith("the image has no NFS client, and nfs-common could not be installed; put it into")
    assert len(node.calls("sleep")) == 2
    node.forgets("apt-get-fails")
    works(node)


def test_a_package_that_brings_no_client_is_a_failure(node: Node) -> None:
    node.says("empty-package")
    assert "could not be installed" in fails(node)


@pytest.mark.parametrize("release", ['ID="sles"\nID_LIKE="suse"\n', ""])
def test_another_system_is_named_and_nothing_is_installed(node: Node, release: str) -> None:
    node.file("/etc/os-release", release)
    assert "put mount.nfs4 into the image" in fails(node)
    assert node.calls("apt-get") == node.calls("dnf") == []


def test_rejects_an_image_of_unknown_distribution(node: Node) -> None:
    (node.root / "etc/os-release").unlink()
    assert "no /etc/os-release" in fails(node)


def test_arguments_are_refused(node: Node) -> None:
    assert fails(node, "--now", code=2) == "takes no arguments, got --now\n"


def test_the_unit_runs_the_script_that_is_written(tmp_path: Path) -> None:
    script, unit = nfs_client_boot().files
    assert f"ExecStart={script.path}\n" in unit.text
    assert unit.path.endswith(f"/{NFS_CLIENT_UNIT}")
    written = tmp_path / "script"
    written.write_text(script.text)
    bash = shutil.which("bash")
    assert bash
    assert subprocess.run([bash, "-n", written]).returncode == 0


def test_mounts_over_nfs_come_after_the_client_and_no_others() -> None:
    zfs = openzfs_mount(dns_name="fs.example", volume_path="/fsx/home", path="/home", transfer_bytes=1_048_576)
    clear, secure = (
        efs_mount(file_system_id="fs-0123456789abcdef0", dns_name="fs.example", path="/home", tls=tls)
        for tls in (False, True)
    )
    assert zfs.after == clear.after == (NFS_CLIENT_UNIT,)
    assert secure.after == ()


def test_efa_and_the_nfs_client_run_before_the_check() -> None:
    fsx = Mount(device="fs@tcp:/m", path="/fsx", type="lustre", options="noatime", after=(LUSTRE_EFA_UNIT,))
    home = openzfs_mount(dns_name="fs.example", volume_path="/fsx/home", path="/home", transfer_bytes=1_048_576)
    p5en = INSTANCE_TYPES["p5en.48xlarge"]
    boot = slurm_boot(p5en, [fsx, home])
    assert boot.units[:3] == (LUSTRE_EFA_UNIT, NFS_CLIENT_UNIT, "ultracluster-mount-check.service")
    assert set(nfs_client_boot().files) <= set(boot.files)
    (check,) = (file.text for file in boot.files if file.path.endswith("/ultracluster-mount-check.service"))
    assert f" {NFS_CLIENT_UNIT}\n" in check
    assert NFS_CLIENT_UNIT not in slurm_boot(p5en, [fsx]).units
