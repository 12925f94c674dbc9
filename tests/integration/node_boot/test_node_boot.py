"""The one script that a node gets: what it carries, and what it does when it runs in bash."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.node_boot import SLURM, Node
from ultracluster.boot import BootScript, Mount, NodeBoot, NodeFile, boot_script, system_boot
from ultracluster.boot._lifecycle_script import MOST_SCRIPT_BYTES

FSX = Mount(device="fs-0@tcp:/abc", path="/fsx", type="lustre", options="noatime,flock", after=("efa.service",))
HOME = Mount(device="fs-1:/home", path="/home", type="nfs", options="nfsvers=4.1")
PART = NodeBoot(
    files=(
        NodeFile(path="/usr/local/sbin/tool", text="#!/bin/sh\necho 'it''s me'\n", mode="0755"),
        NodeFile(path="/etc/efa.conf", text="a \\ b $HOME \x60c\x60\n", mode="0644"),
    ),
    units=("efa.service", "check.timer"),
)

UPGRADES = (
    *("linux-aws", "linux-image-7.0.0-1015-aws", "linux-headers-aws", "linux-modules-extra-aws", "linux-libc-dev"),
    *("nvidia-fabricmanager-580", "libnvidia-compute-580", "openssl", "nvidiaish"),
)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path)
    created.file("/etc/fstab", "UUID=1 / ext4 defaults 0 1\n")
    return created


def boot(node: Node, script: BootScript, *devices: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = node.file("/var/lib/pcs/boot.sh", script.text)
    return node.start(program, *(devices or script.arguments), **environment)


def test_a_node_gets_its_files_its_mounts_and_its_units(node: Node) -> None:
    node.should_mount("/fsx lustre no", "/home nfs no")
    assert boot(node, boot_script(PART, mounts=[FSX, HOME])).returncode == 0
    assert node.health("boot") == "ok\n"
    assert node.read("/etc/efa.conf") == PART.files[1].text
    assert os.access(node.root / "usr/local/sbin/tool", os.X_OK)
    assert node.read("/etc/fstab").splitlines() == [
        "UUID=1 / ext4 defaults 0 1",
        "# ultracluster: begin",
        "fs-0@tcp:/abc /fsx lustre nosuid,nodev,noatime,flock,_netdev,noauto,x-systemd.automount,"
        "x-systemd.after=efa.service 0 0",
        "fs-1:/home /home nfs nosuid,nodev,nfsvers=4.1,_netdev,noauto,x-systemd.automount 0 0",
        "# ultracluster: end",
    ]
    starts = [call.split()[-1] for call in node.calls("systemctl") if call.startswith("systemctl start")]
    assert starts == ["efa.service", "fsx.automount", "home.automount", "check.timer"]
    # Not /home, where the image's own user lives.
    assert node.calls("chattr") == ["chattr +i /fsx"]


def test_a_second_boot_changes_nothing(node: Node) -> None:
    node.should_mount("/fsx lustre no")
    script = boot_script(PART, system_boot(slurm_version="25.11"), mounts=[FSX])
    assert boot(node, script).returncode == 0
    before = {path: path.read_bytes() for path in (node.root / "etc").rglob("*") if path.is_file()}
    node.reboot()
    assert boot(node, script).returncode == 0
    assert {path: path.read_bytes() for path in (node.root / "etc").rglob("*") if path.is_file()} == before


def test_a_mount_that_a_node_no_longer_has_leaves_fstab(node: Node) -> None:
    node.should_mount("/fsx lustre no", "/home nfs no")
    boot(node, boot_script(mounts=[FSX, HOME]))
    boot(node, boot_script(mounts=[HOME]))
    assert "/fsx" not in node.read("/etc/fstab")
    assert node.read("/etc/fstab").startswith("UUID=1 / ext4 defaults 0 1\n")


def test_a_unit_that_fails_is_the_reason_and_the_next_one_has_its_turn(node: Node) -> None:
    node.says("units/efa.service/broken")
    done = boot(node, boot_script(PART))
    assert done.returncode == 0, "the node joins, and is drained with the reason"
    assert node.health("boot") == "failed: efa.service failed, see journalctl -u efa.service\n"
    assert "systemctl start check.timer" in node.calls("systemctl")


def test_a_unit_that_hangs_does_not_hang_the_node(node: Node) -> None:
    node.says("hang", "efa.service")
    done = boot(node, boot_script(PART), ULTRACLUSTER_BOOT_LIMIT="2")
    assert done.returncode == 0
    # It may have been too late for others too.
    assert "efa.service had not started 2 s after the boot" in node.health("boot")


def test_files_that_cannot_be_read_are_a_boot_that_failed(node: Node) -> None:
    script = boot_script(PART)
    cut = BootScript(text=script.text[: len(script.text) - 4000] + "!!!\n")
    assert boot(node, cut).returncode != 0


def test_devices_that_do_not_fit_the_mounts_mount_nothing(node: Node) -> None:
    assert boot(node, boot_script(PART, mounts=[FSX]), "one", "two").returncode == 0
    assert node.health("boot") == "failed: 1 mounts need as many devices, got 2\n"
    assert node.read("/etc/fstab") == "UUID=1 / ext4 defaults 0 1\n"


def test_a_new_lustre_file_system_is_opened_for_all_and_others_stay(node: Node) -> None:
    node.should_mount("/fsx lustre no")
    (node.root / "fsx").chmod(0o755)
    node.file("/run/ultracluster/health/mounts", "ok\n")
    boot(node, boot_script(mounts=[FSX]))
    assert oct((node.root / "fsx").stat().st_mode) == "0o41777"
    (node.root / "fsx").chmod(0o750)
    boot(node, boot_script(mounts=[FSX]))
    assert oct((node.root / "fsx").stat().st_mode) == "0o40750"


def test_a_file_system_that_is_broken_is_not_looked_at(node: Node) -> None:
    node.should_mount("/fsx lustre no")
    node.file("/run/ultracluster/health/mounts", "failed: /fsx does not answer within 5 s\n")
    assert boot(node, boot_script(mounts=[FSX])).returncode == 0
    assert node.calls("stat") == []
    node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw,noatime shared:2 - autofs systemd-1 rw\n")
    assert boot(node, boot_script(mounts=[FSX])).returncode == 0
    assert len(node.calls("chattr")) == 1, "what is mounted on first use is left alone"


def test_the_same_parts_give_the_same_script_and_checksum() -> None:
    item, two = (boot_script(PART, system_boot(slurm_version="25.11"), mounts=[FSX, HOME]) for _ in range(2))
    assert item == two
    assert item.sha256 == hashlib.sha256(item.text.encode()).hexdigest()


def test_what_only_a_deployment_knows_is_no_part_of_the_script() -> None:
    token = Mount(device="${Token[TOKEN.12]}@tcp:/abc", path="/fsx", type="lustre", options="flock")
    script = boot_script(PART, mounts=[token])
    assert script.arguments == (token.device,)
    assert "Token[" not in script.text


@settings(deadline=None, max_examples=25)
@given(text=st.text(max_size=300), mode=st.sampled_from(["0644", "0755", "0600"]))
def test_any_text_arrives_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str, mode: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    node = Node(tmp_path_factory.mktemp("node"))
    node.file("/etc/fstab", "")
    script = boot_script(NodeBoot(files=(NodeFile(path="/etc/x y", text=text, mode=mode),), units=()))
    assert boot(node, script).returncode == 0
    assert (node.root / "etc/x y").read_bytes() == text.encode()
    assert (node.root / "etc/x y").stat().st_mode & 0o777 == int(mode, 8)


@pytest.mark.parametrize(
    ("files", "units", "mounts", "message"),
    [
        (("/etc/a", "/etc/a"), (), (), "two files are called /etc/a"),
        (("etc/a",), (), (), "a file needs an absolute path"),
        (("/etc/../root/.ssh/a",), (), (), "climbs out of its directory"),
        ((), ("a.service", "a.service"), (), "a.service is there twice"),
        ((), ("a.service; reboot",), (), "is not a valid unit"),
        ((), (), (FSX, FSX), "two mounts are at /fsx"),
        ((), (), (Mount(device="x", path="/", type="nfs", options=""),), "a directory of its own below /"),
        ((), (), (Mount(device="a b", path="/x", type="nfs", options=""),), "and no space: 'a b'"),
        ((), (), (Mount(device="a" * 257, path="/x", type="nfs", options=""),), "may have 256 characters"),
        ((), (), tuple(Mount(device="x", path=f"/{n}", type="nfs", options="") for n in range(21)), "19 file systems"),
    ],
)
def test_refuses_what_a_node_could_not_do(
    files: tuple[str, ...], units: tuple[str, ...], mounts: tuple[Mount, ...], message: str
) -> None:
    created = tuple(NodeFile(path=path, text="x\n", mode="0644") for path in files)
    with pytest.raises(ValueError, match=message):
        boot_script(NodeBoot(files=created, units=units), mounts=mounts)


def test_refuses_tokens_in_files_and_more_than_pcs_takes() -> None:
    held = NodeFile(path="/etc/x", text="${Token[TOKEN.7]}\n", mode="0644")
    with pytest.raises(ValueError, match="/etc/x holds a token"):
        boot_script(NodeBoot(files=(held,), units=()))
    large = NodeFile(path="/etc/x", text="x" * MOST_SCRIPT_BYTES, mode="0644")
    with pytest.raises(ValueError, match="bake what is large into the image"):
        boot_script(NodeBoot(files=(large,), units=()))


def test_needrestart_reads_its_drop_in_and_leaves_the_services_of_jobs_alone(tmp_path: Path) -> None:
    (drop_in,) = (file for file in system_boot(slurm_version="25.11").files if "needrestart" in file.path)
    (tmp_path / "x.conf").write_text(drop_in.text)
    # As needrestart does: every file is evaluated, then each pattern is held against a service.
    program = (
        "our %nrconf = (override_rc => {qr(^dbus) => 0}); my $file = shift @ARGV;"
        "eval do { local(@ARGV, $/) = $file; <> }; die $@ if $@;"
        "foreach my $unit (@ARGV) { foreach my $re (keys %{$nrconf{override_rc}}) {"
        ' print "$unit=$nrconf{override_rc}{$re}\\n" if $unit =~ /$re/ } }'
    )
    kept = ["slurmd.service", "slurmd-25.11.service", "sackd.service", "docker.service", "containerd.service"]
    kept += [f"nvidia-{name}.service" for name in ("imex", "fabricmanager", "dcgm", "persistenced")]
    units = [*kept, "dbus.service", "ssh.service", "chrony.service"]
    command = ["perl", "-e", program, str(tmp_path / "x.conf"), *units]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{unit}=0" for unit in [*kept, "dbus.service"]]


def test_updates_leave_kernel_and_driver_as_the_lustre_client_needs_them(tmp_path: Path) -> None:
    """A node that is rebooted has the kernel of its image."""
    (settings,) = (file for file in system_boot(slurm_version="25.11").files if "apt.conf.d" in file.path)
    (tmp_path / "own").write_text(settings.text)
    command = ["apt-config", "--config-file", str(tmp_path / "own"), "dump", "--format", "%f %v%n"]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    patterns = re.findall(r"^Unattended-Upgrade::Package-Blacklist:: (.+)$", dump, re.MULTILINE)
    # As unattended-upgrades does.
    kept = {name for name in UPGRADES for pattern in patterns if re.match(pattern, name)}
    assert kept == set(UPGRADES) - {"openssl", "linux-libc-dev", "nvidiaish"}


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_login_shells_find_the_programs_of_the_release_unless_the_image_has_them_on_the_path(
    tmp_path: Path, shell: str
) -> None:
    (profile,) = (file for file in system_boot(slurm_version="25.11").files if "profile.d" in file.path)
    (tmp_path / "profile.sh").write_text(profile.text)

    command = [str(shutil.which(shell)), "-euc", '. "$0" && echo "$PATH"', str(tmp_path / "profile.sh")]
    for expected in (f"{tmp_path}:{SLURM}/bin", str(tmp_path)):
        done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
        (tmp_path / "sbatch").touch(mode=0o755)
