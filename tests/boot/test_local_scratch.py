"""The script itself runs here, in bash and as a node gets it; the commands that touch disks are a stand-in."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.local_disks import EBS, PATH, Node
from ultracluster.boot import LocalScratch, scripts
from ultracluster.catalogue.ec2 import INSTANCE_TYPES

SCRIPT = Path(scripts.__file__).parent / "local-scratch.sh"
AS_ON_A_NODE = LocalScratch().for_slurm(INSTANCE_TYPES["p5.48xlarge"]).files[0].text
MakeNode = Callable[[int], Node]


@pytest.fixture
def node(tmp_path: Path) -> MakeNode:
    return lambda disks: Node(tmp_path / "node", disks=disks, program=AS_ON_A_NODE)


def dlami(node: Node, where: str = "/opt/dlami/nvme") -> str:
    node.stripe("vg.01-lv_ephemeral", "lvm", "TYPE=LVM2_member", "TYPE=ext4")
    node.unit("dlami-nvme.service", "enabled", "active")
    node.mount("/dev/mapper/vg.01-lv_ephemeral", where)
    return "/dev/mapper/vg.01-lv_ephemeral"


def nodeadm(node: Node) -> str:
    node.stripe("md0", "raid0", "TYPE=linux_raid_member\nLABEL=kubernetes", "TYPE=xfs")
    node.mount("/dev/md0", "/var/lib/kubelet", root="/kubelet")
    node.mount("/dev/md0", "/mnt/k8s-disks/0")
    return "/dev/md0"


def fails(node: Node, *arguments: str) -> str:
    done = node.run(*arguments)
    assert done.returncode == 1
    assert done.stderr.splitlines(keepends=True)[-1] == f"local-scratch: {node.health}"
    assert node.health.startswith("failed: ")
    return node.health.removeprefix("failed: ").rstrip("\n")


def works(node: Node, *arguments: str) -> str:
    done = node.run(*arguments)
    assert (done.returncode, done.stderr, node.health) == (0, "", "ok\n")
    return done.stdout


@pytest.mark.parametrize("disks", [8, 3, 2])
def test_several_disks_become_one_stripe_with_one_file_system(node: MakeNode, disks: int) -> None:
    it = node(disks)
    works(it, "--disks", str(disks))
    assert it.mounts == {PATH: ("/dev/md127", "/")}
    assert it.formatted == ["md127"]
    assert it.holds("md127") == "LABEL=ultracluster\nTYPE=xfs\n"
    (created,) = it.calls("mdadm")
    assert created.endswith(f"--raid-devices={disks} " + " ".join(f"/dev/{disk}" for disk in it.disks))
    assert it.mode(PATH) == 0o1777


def test_one_disk_is_formatted_as_it_is(node: MakeNode) -> None:
    it = node(1)
    works(it, "--disks", "1")
    assert it.mounts == {PATH: ("/dev/nvme1n1", "/")}
    assert it.calls("mdadm") == []


def test_a_type_without_disks_is_no_error_and_gets_no_directory(node: MakeNode) -> None:
    it = node(0)
    assert "no local NVMe disks" in works(it)
    assert not (it.root / "scratch").exists()


@pytest.mark.parametrize("disks", [8, 1])
def test_a_second_run_changes_nothing(node: MakeNode, disks: int) -> None:
    it = node(disks)
    works(it)
    mounts = it.mounts
    works(it)
    assert it.mounts == mounts
    assert len(it.formatted) == 1


@pytest.mark.parametrize(("disks", "assembled"), [(8, True), (8, False), (1, True)])
def test_a_reboot_brings_back_what_was_there(node: MakeNode, disks: int, assembled: bool) -> None:
    it = node(disks)
    works(it)
    mounts = it.mounts
    it.reboot(assembled=assembled)
    works(it)
    assert it.mounts == mounts
    assert len(it.formatted) == 1


@pytest.mark.parametrize("disks", [8, 3, 1])
def test_after_stop_and_start_the_empty_disks_are_striped_again(node: MakeNode, disks: int) -> None:
    it = node(disks)
    works(it)
    mounts = it.mounts
    it.stop_and_start()
    works(it, "--disks", str(disks))
    assert it.mounts == mounts
    assert len(it.formatted) == 2


def test_the_stripe_of_the_deep_learning_ami_is_used_and_not_made_again(node: MakeNode) -> None:
    it = node(8)
    device = dlami(it)
    works(it, "--disks", "8")
    works(it, "--disks", "8")
    assert it.mounts == {"/opt/dlami/nvme": (device, "/"), PATH: (device, "/scratch")}
    assert it.formatted == it.calls("mdadm") == []
    assert it.mode(PATH) == 0o1777


@pytest.mark.parametrize("disks", [8, 1])
def test_the_image_s_own_unit_goes_first(node: MakeNode, disks: int) -> None:
    it = node(disks)
    it.unit("dlami-nvme.service", "enabled")
    works(it, "--disks", str(disks))
    assert it.mounts[PATH] == ("/dev/mapper/vg.01-lv_ephemeral", "/scratch")
    it.stop_and_start()
    works(it, "--disks", str(disks))
    assert it.mounts[PATH] == ("/dev/mapper/vg.01-lv_ephemeral", "/scratch")
    assert it.formatted == []


def test_disks_that_the_image_s_unit_should_have_taken_are_left_to_it(node: MakeNode) -> None:
    it = node(8)
    it.unit("dlami-nvme.service", "enabled", "broken")
    assert "dlami-nvme.service is enabled, but mounted nothing" in fails(it)
    assert it.formatted == it.calls("mdadm") == []


def test_where_the_image_mounts_at_the_path_itself_nothing_is_bound(node: MakeNode) -> None:
    it = node(8)
    device = dlami(it, where=PATH)
    works(it)
    assert it.mounts == {PATH: (device, "/")}


def test_where_the_image_s_unit_comes_late_to_the_path_itself_nothing_is_bound(node: MakeNode) -> None:
    it = node(8)
    it.unit("dlami-nvme.service", "enabled")
    works(it, "--path", "/opt/dlami/nvme")
    assert it.mounts == {"/opt/dlami/nvme": ("/dev/mapper/vg.01-lv_ephemeral", "/")}


@pytest.mark.parametrize("broken", ["lsblk", "blkid", "awk"])
def test_a_tool_that_fails_is_no_sign_of_empty_disks(node: MakeNode, broken: str) -> None:
    it = node(2)
    (it.bin / broken).unlink()
    (it.bin / broken).symlink_to(shutil.which("false") or "/bin/false")
    assert it.run().returncode == 1
    assert it.health.startswith("failed: ")
    assert it.formatted == it.calls("mdadm") == []


def test_an_answer_that_cannot_be_read_is_no_sign_of_empty_disks(node: MakeNode) -> None:
    it = node(2)
    awk = (it.bin / "awk").readlink()
    (it.bin / "awk").unlink()
    (it.bin / "awk").write_text(f'#!/usr/bin/env bash\n[[ $* != *LABEL* ]] && exec {awk} "$@"\n')
    (it.bin / "awk").chmod(0o755)
    it.hold("nvme2n1", "TYPE=ext4")
    assert fails(it).startswith("blkid could not read the signature of /dev/nvme2n1")
    assert it.formatted == it.calls("mdadm") == []


def test_the_stripe_of_nodeadm_is_used(node: MakeNode) -> None:
    it = node(8)
    device = nodeadm(it)
    works(it, "--disks", "8", "--stripe", "use", "--container-store", "no")
    assert it.mounts[PATH] == (device, "/scratch")
    assert it.formatted == it.calls("mdadm") == []


def test_where_nodeadm_makes_the_stripe_nobody_else_does(node: MakeNode) -> None:
    it = node(8)
    assert "this image makes its own" in fails(it, "--stripe", "use")
    assert it.mounts == {}
    assert it.formatted == it.calls("mdadm") == []


@pytest.mark.parametrize("image", [None, dlami, nodeadm], ids=["plain", "dlami", "nodeadm"])
def test_seven_of_eight_disks_are_a_failure_whoever_makes_the_stripe(
    node: MakeNode, image: Callable[[Node], str] | None
) -> None:
    it = node(7)
    if image:
        image(it)
    reason = fails(it, "--disks", "8")
    assert reason.startswith("7 of 8 local disks are there (/dev/nvme1n1 /dev/nvme2n1")
    assert PATH not in it.mounts
    assert it.formatted == []
    assert it.calls("chattr") == [f"chattr +i {PATH}"]


def test_no_disk_where_there_should_be_some_is_a_failure(node: MakeNode) -> None:
    assert fails(node(0), "--disks", "8").startswith("0 of 8 local disks are there (none)")


def test_reports_a_disk_lost_between_boots_and_keeps_the_others(node: MakeNode) -> None:
    it = node(8)
    works(it, "--disks", "8")
    it.reboot(assembled=False)
    it.lose("nvme4n1")
    assert fails(it, "--disks", "8").startswith("7 of 8 local disks")
    assert "linux_raid_member" in it.holds("nvme1n1")


def test_a_stripe_over_fewer_disks_than_there_are_is_a_failure(node: MakeNode) -> None:
    it = node(7)
    dlami(it)
    it.add("nvme9n1", "Amazon EC2 NVMe Instance Storage")
    assert "spans /dev/nvme1n1" in fails(it, "--disks", "8")
    assert PATH not in it.mounts


def test_disks_that_are_mounted_one_by_one_are_no_stripe(node: MakeNode) -> None:
    it = node(2)
    for number, disk in enumerate(it.disks, 1):
        it.hold(disk, "TYPE=xfs")
        it.mount(f"/dev/{disk}", f"/mnt/k8s-disks/{number}")
    assert "spans /dev/nvme1n1, but the local disks are /dev/nvme1n1 /dev/nvme2n1" in fails(it)


def test_an_ebs_volume_is_never_touched(node: MakeNode) -> None:
    it = node(8)
    it.add("nvme10n1", EBS)
    works(it, "--disks", "8")
    assert not it.holds("nvme10n1")
    assert not [call for command in ("mdadm", "mkfs.xfs") for call in it.calls(command) if "nvme10n1" in call]
    assert it.holds("nvme0n1") == "PTTYPE=gpt\n"


@pytest.mark.parametrize(
    ("held", "named"),
    [
        (("TYPE=ext4", "LABEL=data"), "ext4 data"),
        (("TYPE=xfs", "LABEL=data"), "xfs data"),
        (("TYPE=linux_raid_member", "LABEL=host:theirs"), "linux_raid_member host:theirs"),
        (("TYPE=linux_raid_member", "LABEL=notultracluster"), "linux_raid_member notultracluster"),
        (("TYPE=LVM2_member",), "LVM2_member"),
        (("TYPE=swap",), "swap"),
        (("TYPE=crypto_LUKS",), "crypto_LUKS"),
        (("PTTYPE=gpt",), "a partition table"),
        (("AMBIVALENT",), "several signatures"),
    ],
)
@pytest.mark.parametrize("disks", [3, 1])
def test_what_somebody_else_made_is_never_formatted(
    node: MakeNode, disks: int, held: tuple[str, ...], named: str
) -> None:
    it = node(disks)
    it.hold(it.disks[-1], *held)
    before = [it.holds(disk) for disk in it.disks]
    reason = fails(it)
    disk = f"/dev/{it.disks[-1]}"
    assert reason.startswith(f"{disk} holds {named}, which this script did not create; if it is not needed: wipefs")
    assert [it.holds(disk) for disk in it.disks] == before
    assert it.formatted == it.calls("mdadm") == []


def test_a_label_on_one_disk_of_three_is_no_stripe(node: MakeNode) -> None:
    it = node(3)
    it.hold("nvme3n1", "TYPE=xfs", "LABEL=ultracluster")
    assert "/dev/nvme3n1 holds xfs ultracluster" in fails(it)


def test_a_stripe_that_lost_a_member_is_recreated(node: MakeNode) -> None:
    it = node(3)
    works(it)
    it.reboot(assembled=False)
    it.hold("nvme2n1")
    # The old file system shows through the new stripe.
    (it.state / "leftover").write_text("LABEL=ultracluster\nTYPE=xfs\n")
    works(it)
    assert it.formatted == ["md127", "md127"]
    assert it.mounts == {PATH: ("/dev/md127", "/")}


def test_a_run_that_ended_between_stripe_and_file_system_is_taken_up(node: MakeNode) -> None:
    it = node(3)
    works(it)
    it.reboot()
    it.hold("md127")
    works(it)
    assert it.formatted == ["md127", "md127"]


def test_somebody_s_file_system_on_our_stripe_is_never_formatted(node: MakeNode) -> None:
    it = node(3)
    works(it)
    it.reboot()
    it.hold("md127", "TYPE=ext4")
    assert "/dev/md127 holds ext4" in fails(it)
    assert it.formatted == ["md127"]


def test_a_file_system_that_does_not_mount_is_a_failure_not_a_reason_to_format(node: MakeNode) -> None:
    it = node(3)
    works(it)
    it.reboot()
    (it.state / "bad").write_text("md127\n")
    assert fails(it) == "could not mount /dev/md127 at " + str(it.root / "scratch")
    assert it.formatted == ["md127"]


def test_something_else_at_the_path_is_a_failure(node: MakeNode) -> None:
    it = node(3)
    it.mount("10.0.0.1@tcp:/abcdefgh", PATH)
    assert "10.0.0.1@tcp:/abcdefgh is mounted at" in fails(it)
    assert it.formatted == it.calls("mdadm") == []


@pytest.mark.parametrize("installer", ["dnf", "apt-get"])
def test_a_missing_tool_is_installed_or_reported(node: MakeNode, installer: str) -> None:
    it = node(3)
    (it.bin / "mdadm").unlink()
    (it.bin / "dnf").rename(it.bin / installer)
    assert fails(it) == f"mdadm is missing, and {installer} could not install mdadm; put it into the image"
    (it.state / "registry" / "mdadm").write_text("mdadm")
    works(it)
    assert it.mounts == {PATH: ("/dev/md127", "/")}


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("--path", "/a b"), "got '/a b'"),
        (("--path", "/scratch; rm -rf /"), "--path is a directory"),
        (("--path", "/../etc"), "--path is a directory"),
        (("--path", "scratch"), "--path is a directory"),
        (("--path", "/scratch\n"), "--path is a directory"),
        (("--path", ""), "--path is a directory"),
        (("--disks", "-1"), "--disks is a whole number, got '-1'"),
        (("--container-store", "maybe"), "--container-store is yes or no"),
        (("--stripe", "raid0"), "--stripe is make or use"),
        (("--colour", "blue"), "unknown argument --colour"),
        (("--path",), "--path needs a value"),
    ],
)
def test_wrong_usage_touches_nothing(node: MakeNode, arguments: tuple[str, ...], output: str) -> None:
    it = node(3)
    done = it.run(*arguments)
    assert done.returncode == 2
    assert output in it.health
    assert it.health.startswith("failed: ")
    assert (it.state / "calls").read_text() == ""


def test_a_failure_is_forgotten_once_it_is_mended(node: MakeNode) -> None:
    it = node(3)
    it.hold("nvme2n1", "TYPE=ext4")
    fails(it)
    it.hold("nvme2n1")
    works(it)


ENROOT = "ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)\nENROOT_CACHE_PATH /tmp/enroot\n#ENROOT_TEMP_PATH /tmp\n"


def test_enroot_keeps_its_images_on_the_volume_and_goes_back_when_there_is_none(node: MakeNode) -> None:
    it = node(3)
    conf = it.root / "etc/enroot/enroot.conf"
    conf.parent.mkdir(parents=True)
    conf.write_text(ENROOT)
    works(it)
    works(it)
    read = dict(line.split(" ", 1) for line in conf.read_text().splitlines() if not line.startswith("#"))
    assert read == {
        "ENROOT_RUNTIME_PATH": "/run/enroot/user-$(id -u)",
        "ENROOT_CACHE_PATH": f"{it.root}/scratch/.containers/enroot/cache/user-$(id -u)",
        "ENROOT_DATA_PATH": f"{it.root}/scratch/.containers/enroot/data/user-$(id -u)",
        "ENROOT_TEMP_PATH": f"{it.root}/scratch/.containers/enroot/tmp",
    }
    assert it.mode("/scratch/.containers/enroot/data") == 0o1777
    assert it.mode("/scratch/.containers") == 0o711
    it.reboot(assembled=False)
    it.lose("nvme3n1")
    fails(it, "--disks", "3")
    assert conf.read_text() == ENROOT


def test_docker_and_containerd_keep_their_images_on_the_volume(node: MakeNode) -> None:
    it = node(3)
    for name in ("docker", "containerd"):
        (it.root / "var/lib" / name).mkdir(parents=True)
        (it.root / "var/lib" / name / "image").write_text(name)
    units = ("docker.socket", "docker.service", "containerd.service")
    for unit in units:
        it.unit(unit, "active")
    works(it)
    assert it.mounts["/var/lib/docker"] == ("/dev/md127", "/.containers/docker")
    assert it.mounts["/var/lib/containerd"] == ("/dev/md127", "/.containers/containerd")
    assert (it.root / "scratch/.containers/docker/image").read_text() == "docker"
    daemons = [call for call in it.calls("systemctl") if "start" in call or "stop" in call]
    assert daemons == [
        "systemctl stop docker.socket docker.service containerd.service",
        "systemctl --no-block start docker.socket docker.service containerd.service",
    ]
    mounts = it.mounts
    works(it)
    assert it.mounts == mounts
    it.reboot()
    it.unit("docker.socket", "active")
    home = it.root / "scratch/.containers/docker"
    (home / "image").write_text("newer")
    works(it)
    assert it.mounts == mounts
    assert {file.name: file.read_text() for file in home.iterdir()} == {"image": "newer"}
    # At boot nothing is stopped: docker.service still waits for this unit.
    assert len([call for call in it.calls("systemctl") if "start" in call or "stop" in call]) == len(daemons)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("etc/docker/daemon.json", '{"data-root": "/opt/dlami/nvme/docker"}'),
        ("etc/containerd/config.toml", 'version = 2\nroot = "/opt/dlami/nvme/containerd"\n'),
    ],
)
def test_a_store_that_somebody_placed_stays_there(node: MakeNode, file: str, text: str) -> None:
    it = node(3)
    name = file.split("/")[1]
    (it.root / file).parent.mkdir(parents=True)
    (it.root / file).write_text(text)
    (it.root / "var/lib" / name).mkdir(parents=True)
    works(it)
    assert f"/var/lib/{name}" not in it.mounts


def test_containerd_s_own_default_does_not_count_as_placed(node: MakeNode) -> None:
    it = node(3)
    (it.root / "etc/containerd").mkdir(parents=True)
    (it.root / "etc/containerd/config.toml").write_text('root = "/var/lib/containerd"\n')
    (it.root / "var/lib/containerd").mkdir(parents=True)
    works(it)
    assert "/var/lib/containerd" in it.mounts


def test_no_container_store_means_none(node: MakeNode) -> None:
    it = node(3)
    (it.root / "var/lib/docker").mkdir(parents=True)
    (it.root / "etc/enroot").mkdir(parents=True)
    works(it, "--container-store", "no")
    assert set(it.mounts) == {PATH}
    assert not (it.root / "scratch/.containers").exists()


# What can stand on a disk, ours and others'; what happens between two runs.
HELD = ((), ("TYPE=ext4",), ("TYPE=linux_raid_member", "LABEL=x:ultracluster"), ("PTTYPE=gpt",))
EVENTS = ("run", "reboot", "stop and start", "hold", "lose")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    disks=st.integers(0, 4),
    events=st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 3), st.sampled_from(HELD)), max_size=5),
)
def test_the_state_file_is_right_and_other_data_stays(
    tmp_path_factory: pytest.TempPathFactory, disks: int, events: list[tuple[str, int, tuple[str, ...]]]
) -> None:
    it = Node(tmp_path_factory.mktemp("any") / "node", disks=disks, program=AS_ON_A_NODE)
    for event, which, held in [*events, ("run", 0, ())]:
        device = f"nvme{which + 1}n1"
        there = (it.state / "dev" / device).exists()
        used = any((it.state / "dev").glob("md127")) or device in " ".join(source for source, _ in it.mounts.values())
        if event == "hold" and there and not used:
            it.hold(device, *held)
        elif event == "lose" and there and not used:
            it.lose(device)
        elif event == "reboot":
            it.reboot()
        elif event == "stop and start":
            it.stop_and_start()
        elif event == "run":
            others = [name for name in it.disks if (it.state / "dev" / name).exists() and "ext4" in it.holds(name)]
            done = it.run("--disks", str(disks))
            assert (done.returncode == 0) == (it.health == "ok\n")
            assert all("ext4" in it.holds(name) for name in others)
            if done.returncode == 0 and disks:
                source, _ = it.mounts[PATH]
                assert source == ("/dev/nvme1n1" if disks == 1 else "/dev/md127")
                assert not others
