"""The script runs here in bash, as a node gets it; LNet and the file systems are stand-ins."""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.node_boot import Node
from support.waiting import wait_until

METRICS = "/var/lib/node_exporter/textfile_collector/ultracluster_mounts.prom"
RUN = "run/ultracluster/mounts"
# For what hangs. Sixty looks, and never less than three seconds: whatever answers does so in less.
SHORT = ("--first", "0", "--limit", "3")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path)
    created.should_mount("/fsx lustre required", "/home nfs no")
    for number in range(8):
        created.says(f"lnet/efa/rdmap{number:02}s0", "up")
    created.file("/run/ultracluster/lustre-efa-interfaces", "8\n")
    return created


def works(node: Node) -> None:
    done = node.run("mount-check")
    assert (done.returncode, done.stderr, node.health("mounts")) == (0, "", "ok\n")


def fails(node: Node, *arguments: str) -> str:
    done = node.run("mount-check", *(arguments or ("--first", "0")))
    assert done.returncode == 1, done.stdout
    assert done.stderr == f"mount-check: {node.health('mounts')}"
    return node.health("mounts").removeprefix("failed: ").rstrip("\n")


def metrics(node: Node) -> dict[tuple[str, str], float]:
    """The metrics, in the text format of Prometheus: every family with its help and type, before its samples.

    https://prometheus.io/docs/instrumenting/exposition_formats/ (read 2026-11-21)
    """
    result: dict[tuple[str, str], float] = {}
    family = ""
    lines = node.read(METRICS).split("\n")
    assert lines.pop() == ""
    for line in lines:
        if described := re.fullmatch(r"# HELP ([a-z_:][a-z0-9_:]*) \S.*", line):
            family = described[1]
        elif typed := re.fullmatch(r"# TYPE ([a-z_:][a-z0-9_:]*) gauge", line):
            assert typed[1] == family
        else:
            sample = re.fullmatch(r'([a-z_:][a-z0-9_:]*)\{path="(/[^"\\\n]+)"\} ([0-9]+(?:\.[0-9]+)?)', line)
            assert sample, line
            assert sample[1] == family
            assert family.startswith("ultracluster_mount_")
            key = (family.removeprefix("ultracluster_mount_"), sample[2])
            assert key not in result
            result[key] = float(sample[3])
    return result


@pytest.fixture
def left_over(node: Node) -> Iterator[int]:
    """A process that waits for /fsx and cannot be killed, as far as the script sees."""
    process = subprocess.Popen(["sleep", "3600"])
    started = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()[19]
    node.file(f"/{RUN}/_fsx.pid", f"{process.pid} {started}\n")
    yield process.pid
    process.kill()
    process.wait()


def test_the_first_check_mounts_what_is_mounted_on_first_use_and_finds_it_well(node: Node) -> None:
    before = time.time()
    # On the machine's own clock.
    assert node.run("mount-check", "--limit", "99", BASH_ENV="").returncode == 0
    assert node.health("mounts") == "ok\n"
    result = metrics(node)
    assert {key: value for key, value in result.items() if "seconds" not in key[0]} == {
        ("mounted", "/fsx"): 1,
        ("mounted", "/home"): 1,
        ("over_efa", "/fsx"): 1,
    }
    assert result["last_success_timestamp_seconds", "/fsx"] >= int(before)
    assert 0 < result["check_seconds", "/home"] < 200


def test_every_check_is_as_good_as_the_first(node: Node) -> None:
    for _ in range(3):
        works(node)
    node.reboot()
    for number in range(8):
        node.says(f"lnet/efa/rdmap{number:02}s0", "up")
    works(node)


def test_the_client_is_tuned_again_when_a_file_system_has_grown(node: Node) -> None:
    """The kernel gives 8 requests in flight to the device of a new target, and tuning after the mount gave 32."""

    def targets(kind: str, count: int) -> None:
        for number in range(count):
            node.file(f"/sys/fs/lustre/{kind}/fsx-{number:04x}-{kind}-ffff9d0a/max_rpcs_in_flight", "8\n")

    def restarts() -> int:
        return len([call for call in node.calls("systemctl") if "try-restart" in call])

    works(node)
    targets("osc", 4)
    targets("mdc", 1)
    # It was mounted just now, which tunes it.
    (node.root / RUN / "targets").unlink()
    works(node)
    works(node)
    assert restarts() == 0
    targets("osc", 8)
    works(node)
    works(node)
    assert node.calls("systemctl")[-1] == "systemctl try-restart --no-block ultracluster-lustre-tuning@*.service"
    assert restarts() == 1
    targets("mdc", 2)
    works(node)
    assert restarts() == 2


def test_the_metrics_are_replaced_as_a_whole(node: Node) -> None:
    works(node)
    held = (node.root / METRICS.removeprefix("/")).open()
    works(node)
    assert os.fstat(held.fileno()).st_nlink == 0
    held.close()
    assert [path.name for path in (node.root / METRICS.removeprefix("/")).parent.iterdir()] == [
        "ultracluster_mounts.prom"
    ]


@pytest.mark.parametrize("good", [True, False])
def test_a_full_disk_drains_no_node_and_hides_no_fault(node: Node, good: bool) -> None:
    """Users can fill the root volume."""
    works(node)
    (node.root / METRICS.removeprefix("/")).with_name(".ultracluster_mounts").symlink_to("/dev/full")
    if not good:
        node.unmount("/home")
    done = node.run("mount-check", "--first", "0")
    assert "mount-check: no metrics" in done.stderr
    assert (done.returncode, node.health("mounts")) == ((0, "ok\n") if good else (1, "failed: /home is not mounted\n"))


def test_a_missing_mount_is_named_and_the_others_are_not(node: Node) -> None:
    works(node)
    node.unmount("/home")
    assert fails(node) == "/home is not mounted"
    assert metrics(node)["mounted", "/home"] == 0
    assert metrics(node)["mounted", "/fsx"] == metrics(node)["over_efa", "/fsx"] == 1


def test_what_only_would_be_mounted_on_first_use_is_not_mounted(node: Node) -> None:
    node.unmount("/home")
    node.file("/proc/self/mountinfo", "43 29 0:39 / /home rw shared:2 - autofs systemd-1 rw,fd=50\n")
    assert "/home is not mounted" in fails(node)


def test_another_type_than_the_right_one_is_a_failure(node: Node) -> None:
    node.says("mountable", "/fsx ext4\n/home nfs4")
    assert fails(node) == "/fsx is of the type ext4, not lustre"


@pytest.mark.parametrize(
    ("kind", "kernel"),
    [("nfs", "nfs"), ("nfs", "nfs4"), ("efs", "nfs4"), ("s3files", "nfs4"), ("xfs", "xfs"), ("sshfs", "fuse.sshfs")],
)
def test_the_kernel_may_call_a_type_otherwise_than_fstab(tmp_path: Path, kind: str, kernel: str) -> None:
    node = Node(tmp_path)
    node.should_mount(f"/data {kind} no")
    node.says("mountable", f"/data {kernel}")
    works(node)


def test_the_mount_on_top_counts(node: Node) -> None:
    works(node)
    node.unmount("/home")
    with (node.root / "proc/self/mountinfo").open("a") as mountinfo:
        mountinfo.write("50 29 0:41 / /home rw - nfs4 server:/home rw\n51 50 8:1 / /home rw - ext4 /dev/sdb1 rw\n")
    assert fails(node) == "/home is of the type ext4, not nfs"


def test_a_mount_that_hangs_is_noticed_in_time(node: Node) -> None:
    works(node)
    node.says("hang", "/fsx")
    assert fails(node, *SHORT) == "/fsx does not answer within 3 s"
    result = metrics(node)
    assert (result["mounted", "/fsx"], result["over_efa", "/fsx"], result["mounted", "/home"]) == (1, 0, 1)
    assert 3 <= result["check_seconds", "/fsx"] < 4


def test_a_read_that_hangs_is_noticed_in_time(node: Node) -> None:
    works(node)
    node.says("hang", "read /fsx")
    assert fails(node, *SHORT) == "/fsx does not answer a read within 3 s"


def test_an_lnet_that_hangs_is_noticed_in_time(node: Node) -> None:
    works(node)
    node.says("hang", "lnetctl")
    assert "/fsx runs over TCP" in fails(node, *SHORT)


def test_no_second_process_waits_for_a_mount_that_hangs(node: Node, left_over: int) -> None:
    works_not = fails(node)
    assert works_not == "/fsx is not mounted"
    assert not [call for call in node.calls("stat") if "/fsx" in call]
    assert Path(f"/proc/{left_over}").exists()


def test_a_process_with_the_number_of_one_left_over_is_not_it(node: Node) -> None:
    node.file(f"/{RUN}/_fsx.pid", f"{os.getpid()} 1\n")
    works(node)


@pytest.mark.parametrize("closed", [False, True], ids=["in a request", "in the release of its files"])
def test_what_hangs_is_killed_where_it_can_be(node: Node, closed: bool) -> None:
    works(node)
    node.says("hang", "/fsx")
    if closed:
        node.says("closed")
    fails(node, *SHORT)
    number = node.read(f"/{RUN}/_fsx.pid").split()[0]
    wait_until("its end", lambda: not Path(f"/proc/{number}").exists())


def test_reports_an_error(node: Node) -> None:
    node.says("errors", "/home")
    assert fails(node) == (
        "/home answers with an error: stat: cannot read file system information for '/home': Input/output error"
    )


def test_reports_all_problems_at_once(node: Node) -> None:
    node.says("errors", "/home")
    node.says("mountable", "/home nfs4")
    assert fails(node).startswith("/fsx is not mounted; /home answers with an error")


def test_it_recovers(node: Node) -> None:
    node.says("hang", "/fsx")
    fails(node, *SHORT)
    node.says("hang")
    works(node)
    assert metrics(node)["over_efa", "/fsx"] == 1


@pytest.mark.parametrize("fault", ["tcp", "deaf", "mute"])
def test_a_fall_back_to_tcp_is_noticed_by_what_goes_over_efa(node: Node, fault: str) -> None:
    works(node)
    node.says(f"lnet/{fault}")
    assert fails(node) == "/fsx runs over TCP: of a read of 4 MiB next to nothing went over EFA"
    assert metrics(node)["over_efa", "/fsx"] == 0
    assert metrics(node)["mounted", "/fsx"] == 1


def test_that_the_file_was_written_over_efa_does_not_count_for_its_read(node: Node) -> None:
    node.says("lnet/tcp")
    assert fails(node).startswith("/fsx runs over TCP")
    assert [call for call in node.calls("dd") if "urandom" in call]


def test_no_efa_in_lnet_is_a_fall_back_to_tcp(node: Node) -> None:
    for file in (node.state / "lnet/efa").iterdir():
        file.unlink()
    (node.state / "lnet/efa").rmdir()
    assert fails(node) == "/fsx runs over TCP: LNet has no EFA interface that is up"


@pytest.mark.parametrize(
    ("interfaces", "note"),
    [
        (0, "/fsx runs over TCP: LNet has no EFA interface that is up"),
        (7, "/fsx has 7 of 8 EFA interfaces"),
    ],
)
def test_where_efa_is_not_required_a_slower_mount_is_a_note_and_a_metric(
    node: Node, interfaces: int, note: str
) -> None:
    node.file("/etc/ultracluster/mounts", "/fsx lustre yes\n/home nfs no\n")
    for number in range(interfaces, 8):
        (node.state / f"lnet/efa/rdmap{number:02}s0").unlink()
    assert node.run("mount-check").returncode == 0
    assert node.health("mounts") == f"ok: {note}\n"
    # The alert LustreOverTcp reads it.
    assert metrics(node)["over_efa", "/fsx"] == 0


def test_where_efa_is_not_required_a_silent_file_system_is_a_failure_still(node: Node) -> None:
    node.file("/etc/ultracluster/mounts", "/fsx lustre yes\n")
    works(node)
    node.says("hang", "/fsx")
    assert "does not answer" in fails(node, *SHORT)


def test_fewer_interfaces_than_were_set_up_are_a_failure(node: Node) -> None:
    node.says("lnet/efa/rdmap03s0", "down")
    assert fails(node) == "/fsx has 7 of 8 EFA interfaces"


def test_without_efa_nothing_is_read_and_there_is_no_efa_metric(tmp_path: Path) -> None:
    node = Node(tmp_path, efa=0)
    node.should_mount("/fsx lustre no")
    works(node)
    assert node.calls("dd") == node.calls("lnetctl") == []
    assert ("over_efa", "/fsx") not in metrics(node)


def test_one_node_writes_the_file_that_is_read_and_no_other_does(node: Node) -> None:
    for _ in range(3):
        works(node)
    assert len([call for call in node.calls("dd") if "urandom" in call]) == 1
    assert (node.root / "fsx/.ultracluster/efa-probe").stat().st_size == 4 * 2**20
    assert [path.name for path in (node.root / "fsx").rglob("*")] == [".ultracluster", "efa-probe"]
    assert oct((node.root / "fsx/.ultracluster").stat().st_mode) == "0o40755"


def test_a_user_who_takes_the_place_of_the_probe_drains_no_node(node: Node) -> None:
    outside = node.root / "root"
    outside.mkdir()
    (node.root / "fsx/.ultracluster").symlink_to(outside)
    assert node.run("mount-check", *SHORT).returncode == 0
    note = "/fsx/.ultracluster is not a directory of root: reads over EFA are not checked"
    assert node.health("mounts") == f"ok: {note}\n"
    assert metrics(node)["over_efa", "/fsx"] == 0
    assert list(outside.iterdir()) == []


def test_the_first_check_since_the_boot_gives_a_slow_mount_time(node: Node) -> None:
    mountable = (node.state / "mountable").read_text()
    node.says("mountable")
    with ThreadPoolExecutor() as pool:
        done = pool.submit(node.run, "mount-check", "--first", "999")
        # The second look at /home comes after that at /fsx, which was the first to be missing.
        wait_until("a second look", lambda: len([call for call in node.calls("stat") if "/home" in call]) > 1)
        assert not (node.root / "run/ultracluster/health/mounts").exists()
        node.says("mountable", mountable)
        assert done.result().returncode == 0
    assert node.health("mounts") == "ok\n"


def test_a_later_check_does_not_wait(node: Node) -> None:
    works(node)
    node.unmount("/home")
    before = len(node.calls("stat"))
    fails(node, "--first", "120")
    assert len([call for call in node.calls("stat")[before:] if "/home" in call]) == 1


@pytest.mark.parametrize(
    "arguments", [["--limit", "0"], ["--first", "x"], ["--mounts", "/no/such"], ["--mount"], ["-x", "y"]]
)
def test_wrong_usage_has_its_own_exit_code(node: Node, arguments: list[str]) -> None:
    done = node.run("mount-check", *arguments)
    assert done.returncode == 2
    assert node.health("mounts").startswith("failed: ")


def exports(node: Node, *directories: str) -> None:
    """Link directories, which FSx creates for root alone, and list them as those that export."""
    node.file("/etc/ultracluster/exports", "".join(f"/fsx {directory}\n" for directory in directories))
    (node.root / "fsx").chmod(0o1777)
    for directory in directories:
        path = node.root / f"fsx{directory}"
        path.mkdir(parents=True, exist_ok=True)
        path.chmod(0o755)


def mode(node: Node, directory: str) -> str:
    return oct((node.root / f"fsx{directory}").stat().st_mode & 0o7777)


def test_directories_that_export_are_opened_for_all_users(node: Node) -> None:
    exports(node, "/checkpoints", "/runs/logs")
    (node.root / "fsx/data").mkdir(mode=0o755)
    works(node)
    modes = [mode(node, directory) for directory in ("/checkpoints", "/runs/logs", "/runs", "/data")]
    assert modes == ["0o1777", "0o1777", "0o755", "0o755"]


def test_the_root_of_a_file_system_is_opened_if_the_list_has_it(node: Node) -> None:
    """As on HyperPod, which mounts it with neither option."""
    exports(node, "/")
    works(node)
    assert mode(node, "") == "0o1777"
    (mounted,) = (line.split()[5] for line in node.read("/proc/self/mountinfo").splitlines() if " /fsx " in line)
    assert mounted == "rw,nosuid,nodev,noatime"


def test_a_directory_is_opened_once_since_the_boot(node: Node) -> None:
    exports(node, "/checkpoints")
    works(node)
    (node.root / "fsx/checkpoints").chmod(0o755)
    works(node)
    assert mode(node, "/checkpoints") == "0o755"


def test_an_association_that_is_added_later_is_opened_when_its_directory_is_there(node: Node) -> None:
    works(node)
    exports(node, "/checkpoints")
    (node.root / "fsx/checkpoints").rmdir()
    assert "/fsx/checkpoints is not open yet" in node.run("mount-check").stdout
    exports(node, "/checkpoints")
    works(node)
    assert mode(node, "/checkpoints") == "0o1777"


@pytest.mark.parametrize(("owner", "given"), [(0, 0o750), (0, 0o2775), (1000, 0o755)])
def test_any_other_owner_or_mode_of_a_directory_is_kept(node: Node, owner: int, given: int) -> None:
    exports(node, "/checkpoints")
    os.chown(node.root / "fsx/checkpoints", owner, owner)
    (node.root / "fsx/checkpoints").chmod(given)
    works(node)
    assert mode(node, "/checkpoints") == oct(given)


@pytest.mark.parametrize("user", [False, True])
def test_nothing_is_opened_through_what_a_user_may_rename(node: Node, user: bool) -> None:
    exports(node, "/runs/logs")
    runs, elsewhere = node.root / "fsx/runs", node.root / "etc/ultracluster"
    (elsewhere / "logs").mkdir()
    if user:
        os.chown(runs, 1000, 1000)
    else:
        runs.rename(node.root / "fsx/old")
        runs.symlink_to(elsewhere)
    works(node)
    assert mode(node, "/runs/logs") == "0o755"


def test_a_directory_that_does_not_answer_holds_no_check(node: Node) -> None:
    exports(node, "/checkpoints")
    works(node)
    (node.root / RUN / "opened").unlink()
    node.says("hang", "/fsx/checkpoints")
    assert node.run("mount-check", *SHORT).returncode == 0
    assert node.health("mounts") == "ok\n"
