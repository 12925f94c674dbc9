"""Prolog, health check, epilog and IMEX run here in bash, as on a node; the test has the commands of the hardware."""

import fcntl
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from support.node_boot.gpu_node import BIN, P5EN, GpuNode
from support.waiting import wait_until
from ultracluster.boot import health_boot, health_settings
from ultracluster.catalogue.ec2 import INSTANCE_TYPES, instance_type
from ultracluster.catalogue.monitoring import XIDS, XidPolicy, nvlink5_words

GB200 = INSTANCE_TYPES["p6e-gb200.36xlarge"]
JOB = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "2001", "SLURM_JOB_GPUS": "0,1,2,3,4,5,6,7"}
NO_GPUS = "gpus 0\nnvlinks 0\nefa 16\nxids\n"
# For a command that hangs. It holds for all commands of a check: others may not answer in time either.
SHORT = {"ULTRACLUSTER_CHECK_LIMIT": "1"}


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    return GpuNode(tmp_path)


def refusal(node: GpuNode, **environment: str) -> str:
    """The prolog's reason to reject a job, from Slurm's record of the node."""
    assert node.call("prolog", **JOB, **environment).returncode == 1
    shown = node.slurm()
    assert "+DRAIN" in shown["State"]
    return shown["Reason"].removeprefix("ultracluster: devices: ")


def drained_before(node: GpuNode) -> None:
    """Add two nodes of the group that their checks drained a moment ago."""
    for number in (2, 3):
        node.slurm_node(f"train-{number}", address=f"10.1.2.{number}", host=f"ip-10-1-2-{number}")
        with (node.state / "slurm" / f"train-{number}").open("a") as record:
            print(f"Comment=ultracluster:{int(time.time())}:1", file=record)


def test_a_healthy_node_takes_the_job_and_asks_the_controller_nothing(node: GpuNode) -> None:
    done = node.call("prolog", **JOB)
    assert (done.returncode, done.stderr) == (0, "")
    assert node.health("devices") == "ok\n"
    assert node.calls("scontrol") == []


def test_the_check_takes_seconds(node: GpuNode) -> None:
    began = time.monotonic()
    assert node.call("health-check").returncode == 0
    assert time.monotonic() - began < 200


def test_a_node_without_its_gpus_is_drained_with_the_reason(node: GpuNode) -> None:
    node.gpus(7)
    assert refusal(node) == "7 of 8 GPUs are there"


def test_a_gpu_that_has_fallen_off_the_bus_is_the_reason(node: GpuNode) -> None:
    node.gpus(3)
    node.says("gpu-lost")
    output = refusal(node)
    assert "GPU3: 0000:B9:00.0: GPU is lost." in output
    assert output.endswith("; 3 of 8 GPUs are there")


def test_uncorrected_ecc_errors_drain(node: GpuNode) -> None:
    node.gpus(gpu3="Enabled, 2, Not Active")
    assert refusal(node) == "GPU 3 has 2 uncorrected ECC errors since the boot"


def test_ecc_that_is_off_drains(node: GpuNode) -> None:
    node.gpus(gpu5="Disabled, [N/A], Not Active")
    assert refusal(node) == "GPU 5 has ECC off"


def test_clocks_that_the_hardware_slows_down_drain(node: GpuNode) -> None:
    node.gpus(gpu0="Enabled, 0, Active")
    assert refusal(node) == "the hardware of GPU 0 slows its clocks down"


@pytest.mark.parametrize(
    ("line", "reason"),
    [("Yes, No", "needs a reset to remap rows of its memory"), ("No, Yes", "could not remap a row of its memory")],
)
def test_rows_that_wait_for_a_reset_or_could_not_be_remapped_drain(node: GpuNode, line: str, reason: str) -> None:
    node.says("rows", f"00000000:BB:00.0, {line}")
    assert refusal(node) == f"GPU 00000000:BB:00.0 {reason}"


def test_one_nvlink_that_is_down_drains(node: GpuNode) -> None:
    text = (node.state / "nvlink").read_text()
    head, _, tail = text.partition("GPU 6:")
    node.says("nvlink", head + "GPU 6:" + tail.replace("Link 4: 26.562 GB/s", "Link 4: <inactive>", 1))
    assert refusal(node) == "GPU 6 has 17 of 18 NVLinks up"


@pytest.mark.parametrize("policy", list(XidPolicy))
def test_an_xid_drains_as_the_policy_has_it(node: GpuNode, policy: XidPolicy) -> None:
    codes = [code for code, result in XIDS.items() if result is policy]
    lines = [f"[ 1.0] NVRM: Xid (PCI:0000:b9:00): {code}, pid=12, name=python" for code in codes]
    node.says("kernel", "\n".join(lines))
    status = node.call("health-check").returncode
    output = node.health("devices")
    if policy in (XidPolicy.FATAL, XidPolicy.RESET):
        assert status == 1
        assert all(f"XID {code} on GPU 0000:b9:00" in output for code in codes)
    else:
        assert (status, output) == (0, "ok\n")


# Lines of drivers 570 to 595 from public reports: https://forums.developer.nvidia.com/t/364958 and NVIDIA's
# https://github.com/NVIDIA/NVSentinel (read 2026-11-23).
NVLINK = "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000 0x00000000)"
ACTION = "NVRM: Xid (PCI:{gpu}): 154, GPU recovery action changed from 0x0 (None) to {action}"


@pytest.mark.parametrize(
    "action", ["0x1 (GPU Reset Required)", "0x2 (Node Reboot Required)", "0x4 (Drain and Reset)", "0x1 (PF FLR)"]
)
def test_the_recovery_action_of_the_driver_drains(node: GpuNode, action: str) -> None:
    node.says("kernel", f"{NVLINK}\n{ACTION.format(gpu='0009:01:00', action=action)}")
    assert refusal(node) == f"XID 154 on GPU 0009:01:00: {action[5:-1]}"


def test_a_fatal_sub_code_drains_where_the_driver_reports_no_action(node: GpuNode) -> None:
    words = dict(zip(("nvlink-xids", "nvlink-harmless"), nvlink5_words(), strict=True))
    lists = "".join(f"{name} {value}\n" for name, value in words.items())
    node.file("/etc/ultracluster/health", node.read("/etc/ultracluster/health") + lists)
    node.says("kernel", NVLINK)
    assert refusal(node) == "XID 149 on GPU 0009:01:00: NETIR_LINK_EVT"
    # The host took the link down.
    node.says("kernel", NVLINK.replace("0x021425c6", "0x028425c6"))
    node.wait()
    assert node.call("health-check").returncode == 0


def test_a_recovery_action_that_is_over_and_a_fault_of_a_link_alone_take_the_job(node: GpuNode) -> None:
    over = ACTION.format(gpu="0009:01:00", action="0x1 (GPU Reset Required)")
    none = "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
    node.says("kernel", f"{NVLINK}\n{over}\n{none}")
    assert node.call("health-check").returncode == 0
    assert node.health("devices") == "ok\n"


def test_xids_that_somebody_has_dealt_with_are_forgotten(node: GpuNode) -> None:
    node.says("kernel", "NVRM: Xid (PCI:0000:b9:00): 48, pid=12")
    assert refusal(node) == "XID 48 on GPU 0000:b9:00"
    assert node.call("health-check", "--forget-xids").returncode == 0
    for _ in range(3):
        assert node.call("drain-on-failure").returncode == 0
    assert "+DRAIN" not in node.slurm()["State"]
    node.says("kernel-since", "NVRM: Xid (PCI:0000:b9:00): 79, pid=12")
    node.wait()
    assert refusal(node) == "XID 79 on GPU 0000:b9:00"


def chrony(node: GpuNode, output: str) -> None:
    """Put chrony into the image: what `chronyc -n -c tracking` prints, chrony 4.3's own lines with another offset."""
    program = node.bin / "chronyc"
    program.write_text(f'#!/bin/bash\n[ "$*" = "-n -c tracking" ] || exit 9\n{output}\n')
    program.chmod(0o755)


def tracking(offset: str, leap: str = "Normal") -> str:
    return (
        f"echo A9FEA97B,169.254.169.123,4,1795285280.822030837,{offset},0.000002164,0.000082968,3.710,0.002,0.504,"
        f"0.000362541,0.000225028,16.1,'{leap}'"
    )


@pytest.mark.parametrize(("offset", "seconds"), [("10.000000000", 10), ("-3600.250000000", 3600)])
def test_a_clock_that_is_off_by_more_than_slurm_bears_drains(node: GpuNode, offset: str, seconds: int) -> None:
    chrony(node, tracking(offset))
    assert refusal(node) == f"the clock is {seconds} s off"


@pytest.mark.parametrize(
    "output",
    [
        tracking("9.999999999"),
        tracking("-0.000002191"),
        # A subnet without a time server must not drain a cluster whose clocks are right.
        tracking("0.000000000", "Not synchronised"),
        "echo 506 Cannot talk to daemon; exit 1",
        "echo",
        ":",
    ],
)
def test_a_clock_that_is_right_or_of_which_nothing_is_known_takes_the_job(node: GpuNode, output: str) -> None:
    chrony(node, output)
    done = node.call("health-check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_chrony_that_hangs_takes_the_job(node: GpuNode) -> None:
    node.file("/etc/ultracluster/health", NO_GPUS)
    chrony(node, "exec sleep 300")
    done = node.call("health-check", **SHORT)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_clock_of_a_node_without_gpus_is_checked_as_well(node: GpuNode) -> None:
    node.file("/etc/ultracluster/health", NO_GPUS)
    chrony(node, tracking("61.5"))
    assert refusal(node) == "the clock is 61 s off"


@pytest.mark.parametrize("efa", [0, 15])
def test_an_efa_device_that_is_missing_drains(node: GpuNode, efa: int) -> None:
    for device in sorted((node.root / "sys/class/infiniband").iterdir())[efa:]:
        device.rename(node.root / f"tmp-{device.name}")
    assert refusal(node) == f"{efa} of 16 EFA devices are there"


def test_an_efa_device_that_is_down_drains(node: GpuNode) -> None:
    node.file("/sys/class/infiniband/rdmap03s0/ports/1/state", "1: DOWN\n")
    assert refusal(node) == "EFA device rdmap03s0 is DOWN"


def test_a_device_of_another_make_is_no_efa_device(node: GpuNode) -> None:
    device = node.root / "sys/class/infiniband/mlx5_0/device"
    device.mkdir(parents=True)
    (node.root / "sys/bus/pci/drivers/mlx5_core").mkdir()
    (device / "driver").symlink_to(node.root / "sys/bus/pci/drivers/mlx5_core")
    assert node.call("health-check").returncode == 0


def test_mounts_that_are_broken_or_unchecked_drain(node: GpuNode) -> None:
    node.file("/etc/ultracluster/mounts", "/fsx lustre yes\n")
    assert "the mounts have not been checked since the boot" in refusal(node)
    node.file("/run/ultracluster/health/mounts", "failed: /fsx does not answer within 5 s\n")
    assert node.call("health-check").returncode == 1
    assert "/fsx does not answer within 5 s" in node.health("devices")
    node.file("/run/ultracluster/health/mounts", "ok\n")
    node.call("health-check")
    assert node.health("devices") == "failed: /fsx is not mounted\n"
    node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw,noatime shared:2 - lustre fs@tcp:/m rw,flock\n")
    assert node.call("health-check").returncode == 0


@pytest.mark.parametrize(
    "state",
    # Without a fabric manager, while it registers the GPU, and after it failed to: the links are up in each.
    ["Not Started, N/A", "In Progress, N/A", "Completed, Insufficient Resources", "Completed, Unknown Error"],
)
@pytest.mark.parametrize("name", ["p5en.48xlarge", "p6e-gb200.36xlarge"])
def test_a_gpu_that_is_not_in_the_fabric_of_its_switches_drains(tmp_path: Path, name: str, state: str) -> None:
    """CUDA fails there with error 802, in each job that the idle node takes."""
    node = GpuNode(tmp_path, instance_type=INSTANCE_TYPES[name])
    node.fabric(INSTANCE_TYPES[name].gpus, gpu3=state)
    assert refusal(node, ULTRACLUSTER_REGISTRATION="0") == f"GPU 3 is not in the NVLink fabric: {state}"


@pytest.mark.parametrize("state", ["Not Started, N/A", "In Progress, N/A"])
def test_a_fabric_manager_that_was_just_restarted_keeps_the_node(node: GpuNode, state: str) -> None:
    """The registration takes seconds, and a drained node comes back with its next check at the earliest."""
    node.fabric(gpu3=state)
    program = node.root / f"{BIN}prolog".lstrip("/")
    environment = node.environment | JOB | {"ULTRACLUSTER_REGISTRATION": "999"}
    with subprocess.Popen([program], env=environment, stderr=subprocess.PIPE, text=True) as running:

        def looks() -> int:
            return sum("fabric.state" in call for call in node.calls("nvidia-smi"))

        wait_until("a second look", lambda: looks() > 1 or running.poll() is not None)
        node.fabric()
        assert running.wait(timeout=600) == 0, running.communicate()
    assert node.health("devices") == "ok\n"
    assert node.calls("scontrol") == []


def test_other_faults_do_not_wait_for_the_fabric(node: GpuNode) -> None:
    node.gpus(7)
    assert refusal(node, ULTRACLUSTER_REGISTRATION="999") == "7 of 8 GPUs are there"


def test_a_type_without_switches_is_not_asked_about_a_fabric(tmp_path: Path) -> None:
    node = GpuNode(tmp_path, instance_type=instance_type("g6e.48xlarge"), efa=4)
    node.fabric(gpu3="In Progress, N/A")
    assert node.call("health-check").returncode == 0, node.health("devices")
    assert not [call for call in node.calls("nvidia-smi") if "fabric" in call]


@pytest.mark.parametrize("hanging", ["smi-gpus", "smi-nvlink", "smi-fabric", "journalctl"])
def test_a_command_that_hangs_is_a_reason_within_seconds(node: GpuNode, hanging: str) -> None:
    what = {"smi-gpus": "nvidia-smi", "smi-nvlink": "nvidia-smi nvlink", "journalctl": "the kernel's log"}
    node.says("hang", hanging)
    assert f"{what.get(hanging, 'nvidia-smi about the fabric')} does not answer within 1 s" in refusal(node, **SHORT)


@pytest.mark.parametrize("closed", [False, True], ids=["in a request", "in the release of its files"])
def test_a_command_that_nothing_can_kill_hangs_nobody(node: GpuNode, closed: bool) -> None:
    """A process that waits in the driver outlives even SIGKILL."""
    node.says("hang", "smi-nvlink")
    if closed:
        node.says("closed")
    immortal = node.file("/tmp/immortal", 'kill() { builtin kill -0 "$2"; }\n')
    assert node.call("health-check", **SHORT, BASH_ENV=str(immortal)).returncode == 1
    assert "nvidia-smi nvlink does not answer within 1 s" in node.health("devices")
    # Still there: nobody has waited for its end.
    os.kill(int((node.state / "hangs").read_text()), signal.SIGKILL)


def test_an_older_driver_is_queried_with_its_field_names(node: GpuNode) -> None:
    node.says("old-driver")
    assert node.call("health-check").returncode == 0


def test_forty_jobs_that_start_together_on_a_healthy_node_all_start(node: GpuNode) -> None:
    """A job array of one-CPU jobs: one check serves all, however slow the driver is."""
    node.says("slow", "2")
    program = str(node.root / f"{BIN}prolog".lstrip("/"))
    environment = {
        "PATH": str(node.bin),
        "ULTRACLUSTER_ROOT": str(node.root),
        "STAND_IN_STATE": str(node.state),
        **{name: value for name, value in JOB.items() if name != "SLURM_JOB_GPUS"},
        # The stand-ins of 40 prologs share two cores with the other tests.
        "ULTRACLUSTER_CHECK_LIMIT": "60",
    }
    running = [
        subprocess.Popen([program], env=environment | {"SLURM_JOB_ID": str(job)}, stderr=subprocess.PIPE, text=True)
        for job in range(100, 140)
    ]
    errors = [process.communicate(timeout=180)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 40, "\n".join(errors)
    assert "DRAIN" not in node.slurm()["State"]
    checks = [call for call in node.calls("nvidia-smi") if "ecc.mode" in call]
    assert len(checks) < 10, "each job checked again"
    assert sorted((node.root / "run/ultracluster/jobs").iterdir()) != []


def test_a_job_starts_where_the_breaker_keeps_the_node_in_service(node: GpuNode) -> None:
    drained_before(node)
    node.gpus(7)
    done = node.call("prolog", **JOB)
    assert (done.returncode, "the node stays in service" in done.stderr) == (0, True)
    assert "DRAIN" not in node.slurm()["State"]
    assert list((node.root / "run/ultracluster/jobs").iterdir()), "the epilog would clean up after the job"


SYNTAX = "#!/usr/bin/env bash\nif true; then\n"
KILLED = "#!/usr/bin/env bash\nkill -KILL $$\n"
NOT_EXECUTABLE = "#!/usr/bin/env bash\n"
DEATHS = [(SYNTAX, 0o755, 2), (KILLED, 0o755, 137), (NOT_EXECUTABLE, 0o644, 126)]


@pytest.mark.parametrize(("text", "mode", "code"), DEATHS, ids=("syntax error", "killed", "not executable"))
def test_a_check_that_dies_drains_within_the_limit_and_with_its_own_reason(
    node: GpuNode, text: str, mode: int, code: int
) -> None:
    """A release may break the check on all nodes at once; the last result of each is still `ok`."""
    assert node.call("health-check").returncode == 0
    node.file(f"{BIN}health-check", text).chmod(mode)
    drained_before(node)
    done = node.call("prolog", **JOB)
    assert (done.returncode, "the node stays in service" in done.stderr) == (0, True), done.stderr
    assert "DRAIN" not in node.slurm()["State"]
    assert not (node.root / "run/ultracluster/prolog-refused").exists()
    metric = node.read("/var/lib/node_exporter/textfile_collector/ultracluster_drain.prom")
    assert '{action="drain"} 1' in metric, "HealthBreakerOpen"
    for record in (node.state / "slurm").glob("train-[23]"):
        record.unlink()
    node.file("/run/ultracluster/health/devices", "ok\n")
    assert refusal(node) == f"the check ended with code {code} and without a result"


def test_a_check_that_dies_drains_nothing_where_the_mode_is_off(node: GpuNode) -> None:
    node.file("/etc/ultracluster/breaker", "parameter /ultracluster/llama/health-mode\nregion us-east-2\n")
    (node.state / "aws").symlink_to(Path(__file__).parents[1] / "support/node_boot/aws")
    (node.state / "parameters.json").write_text('{"/ultracluster/llama/health-mode": "off"}')
    for program, others in (("health-check", ()), ("imex", ("health-check",))):
        node.file(f"{BIN}{program}", SYNTAX).chmod(0o755)
        for name in others:
            node.file(f"{BIN}{name}", "#!/usr/bin/env bash\n").chmod(0o755)
        done = node.call("prolog", **JOB)
        assert (done.returncode, "the node stays in service" in done.stderr) == (0, True), done.stderr
    assert "DRAIN" not in node.slurm()["State"]


def test_a_recent_failure_is_a_failure(node: GpuNode) -> None:
    node.gpus(7)
    assert node.call("health-check").returncode == 1
    node.gpus()
    done = node.call("health-check", "--recent", "300")
    assert (done.returncode, done.stderr) == (1, "health-check: failed: 7 of 8 GPUs are there\n")
    state = node.root / "run/ultracluster/health/devices"
    os.utime(state, (time.time() - 20, time.time() - 20))
    assert node.call("health-check", "--recent", "30").returncode == 1
    assert time.time() - state.stat().st_mtime > 15, "jobs that start often must not renew a failure for ever"
    assert node.call("health-check").returncode == 0, "without --recent there is a new check"


def test_an_old_result_is_checked_again(node: GpuNode) -> None:
    assert node.call("health-check").returncode == 0
    node.wait()
    node.gpus(7)
    assert node.call("health-check", "--recent", "300").returncode == 1


@pytest.mark.parametrize("rate", ["26.562 GB/s", "26.562 GBps", "53.125 GB/sec", "212 Gbit/s"])
def test_a_link_with_a_rate_is_up_in_every_unit(node: GpuNode, rate: str) -> None:
    node.says("nvlink", (node.state / "nvlink").read_text().replace("26.562 GB/s", rate))
    assert node.call("health-check").returncode == 0


@pytest.mark.parametrize("state", ["<inactive>", "Inactive", "Disabled", "N/A"])
def test_a_link_that_is_down_drains(node: GpuNode, state: str) -> None:
    node.says("nvlink", (node.state / "nvlink").read_text().replace("26.562 GB/s", state, 1))
    assert refusal(node) == "GPU 0 has 17 of 18 NVLinks up"


@pytest.mark.parametrize("script", ["prolog", "epilog"])
def test_epilogs_that_wait_for_each_other_refuse_no_job_and_drain_nothing(node: GpuNode, script: str) -> None:
    lock = node.root / "run/ultracluster/epilog.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = node.call(script, **JOB, ULTRACLUSTER_LOCK_WAIT="1")
    assert done.returncode == 0
    assert "epilogs of other jobs have run for 1 s" in done.stderr


def test_a_full_disk_does_not_turn_a_report_into_a_drain(node: GpuNode) -> None:
    """The metric of the breaker is on the root volume, which the logs of every node may fill at once."""
    drained_before(node)
    node.file("/var/lib/node_exporter", "no directory")
    node.gpus(7)
    done = node.call("prolog", **JOB)
    assert (done.returncode, "the metric cannot be written" in done.stderr) == (0, True)
    assert "DRAIN" not in node.slurm()["State"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nvlink", "GPU 0: NVIDIA H200\n" + "\t Link 0: 26.562 GB/s\n" * 36),
        ("nvlink", "\x1b[31mWARNING: NVML: undefined symbol\x1b[0m\n\x00\xff\xfe garbage"),
        ("gpus", "\n".join(f"{gpu}, [N/A], [N/A], [Unknown Error]" for gpu in range(8))),
        ("gpus", "\r\n".join(f"{gpu}, Enabled, 0, Not Active" for gpu in range(8))),
        ("gpus", "WARNING: infoROM is corrupted\n" + "\n".join(f"{gpu}, Enabled, 0, Not Active" for gpu in range(9))),
        ("fabric", "\n".join(f"{gpu}, [N/A], [N/A]" for gpu in range(8))),
        ("fabric", "\n".join(f"{gpu}, Completed, [Not Supported]" for gpu in range(8))),
        ("fabric", "\r\n".join(f"{gpu}, Completed, Success" for gpu in range(8))),
        ("fabric", "WARNING: infoROM is corrupted\n0, [Unknown Error], N/A\n"),
        ("rows", "No remapped rows found.\n[N/A], [N/A], [N/A]"),
        ("kernel", "NVRM: Xid (PCI:0000:b9:00): seventy-nine\nNVRM: Xid (PCI:): 79\nname=NVRM: Xid (0):, Ch 79"),
        ("kernel", "\x00" * 64 + "\n" + "NVRM: Xid (PCI:0000:b9:00): 13, pid=1, name=" + "x" * 100_000),
        ("kernel", "NVRM: Xid (PCI:0000:b9:00): 154, GPU recovery action changed from 0x1 to nothing"),
    ],
    ids=(
        *("twice the links", "symbols", "unknown", "carriage returns", "nine GPUs", "A100", "no status"),
        *("carriage returns of the fabric", "unknown fabric", "prose", "no code", "binary", "154"),
    ),
)
def test_rubbish_of_the_driver_drains_nothing(node: GpuNode, name: str, text: str) -> None:
    node.says(name, text)
    assert node.call("prolog", **JOB).returncode == 0, node.health("devices")


def test_a_corrected_clock_neither_ends_a_wait_nor_keeps_a_result(node: GpuNode) -> None:
    """The time of day is an hour later, or earlier, than at the checks before."""
    node.should_mount("/fsx lustre no")
    node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw,noatime shared:2 - lustre fs@tcp:/m rw,flock\n")
    node.file("/run/ultracluster/health/mounts", "ok\n")
    since_boot = int(float(Path("/proc/uptime").read_text().split()[0]))
    node.file("/run/ultracluster/mounts/checked", f"{since_boot}\n")
    os.utime(node.root / "run/ultracluster/health/mounts", (0, 0))
    assert node.call("health-check").returncode == 0, node.health("devices")
    later = time.time() + 3600
    os.utime(node.root / "run/ultracluster/health/devices", (later, later))
    node.gpus(7)
    assert node.call("health-check", "--recent", "30").returncode == 1
    # A check of the mounts that no longer runs is still noticed.
    node.gpus()
    node.file("/run/ultracluster/mounts/checked", f"{since_boot - 1000}\n")
    assert node.call("health-check").returncode == 1
    assert "the mounts were last checked" in node.health("devices")


def test_reports_all_problems_at_once(node: GpuNode) -> None:
    node.gpus(7, gpu1="Enabled, 0, Active")
    node.file("/sys/class/infiniband/rdmap03s0/ports/1/state", "1: DOWN\n")
    node.call("health-check")
    output = node.health("devices")
    assert "7 of 8 GPUs" in output
    assert "slows its clocks" in output
    assert "rdmap03s0" in output


def test_at_boot_the_check_waits_for_the_drivers(node: GpuNode) -> None:
    node.gpus(0)
    program = [str(node.root / f"{BIN}health-check".lstrip("/")), "--patience", "999"]
    with subprocess.Popen(program, env=node.environment, stderr=subprocess.DEVNULL) as running:
        # From the second look on there are GPUs.
        wait_until("a second look", lambda: len(node.calls("nvidia-smi")) > 3)
        node.gpus()
        assert running.wait(timeout=600) == 0
    assert node.health("devices") == "ok\n"


@pytest.mark.parametrize("arguments", [("--fast",), ("--patience",), ("--patience", "soon")])
def test_wrong_usage_lists_the_known_arguments(node: GpuNode, arguments: tuple[str, ...]) -> None:
    done = node.call("health-check", *arguments)
    assert done.returncode == 2
    assert "patience" in done.stderr


def test_where_drains_cannot_be_counted_the_job_starts(node: GpuNode) -> None:
    """Slurm would drain every node whose prolog fails, and a slow controller is a sign that many do."""
    node.gpus(7)
    node.says("slurm-down")
    done = node.call("prolog", **JOB)
    assert (done.returncode, "the controller does not answer; the node stays in service" in done.stderr) == (0, True)
    assert len([call for call in node.calls("scontrol") if "train-1" in call]) == 3
    # A script of the cluster file is no check that may be wrong.
    node.gpus()
    node.wait()
    node.file("/run/ultracluster/health/script", "failed: users.sh\n")
    assert node.call("prolog", **JOB).returncode == 1


def test_a_node_without_the_users_drains_itself_before_the_first_job(node: GpuNode) -> None:
    """The check of each minute drains after two failures, and slurmd cannot start a job of a user that it lacks."""
    node.file("/run/ultracluster/health/users", "failed: the users can't be read from /ultracluster/llama/users\n")
    assert node.call("prolog", **JOB).returncode == 1
    assert node.slurm()["Reason"] == "ultracluster: users: the users can't be read from /ultracluster/llama/users"
    node.file("/run/ultracluster/health/users", "ok\n")
    for _ in range(3):
        assert node.run("drain-on-failure").returncode == 0
    assert "+DRAIN" not in node.slurm()["State"]
    assert node.call("prolog", **JOB).returncode == 0


def test_of_many_jobs_on_a_drained_node_none_starts_because_it_waited_too_long(node: GpuNode) -> None:
    node.gpus(7)
    assert node.call("prolog", **JOB).returncode == 1
    node.says("slurm-down")
    assert node.call("prolog", **JOB).returncode == 1


def test_metrics_know_the_job_of_each_gpu_until_it_ends(node: GpuNode) -> None:
    node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001", SLURM_JOB_GPUS="0,1")
    node.call("prolog", SLURM_JOB_ID="78", SLURM_JOB_UID="2002", SLURM_JOB_GPUS="1,2")
    jobs = node.root / "run/ultracluster/hpc-jobs"
    assert {file.name: file.read_text() for file in jobs.iterdir()} == {"0": "77\n", "1": "77\n78\n", "2": "78\n"}
    assert node.call("epilog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001").returncode == 0
    assert {file.name: file.read_text() for file in jobs.iterdir()} == {"1": "78\n", "2": "78\n"}
    assert node.call("epilog", SLURM_JOB_ID="78", SLURM_JOB_UID="2002").returncode == 0
    assert list(jobs.iterdir()) == []


def test_what_the_prolog_writes_is_what_the_collector_reads(node: GpuNode) -> None:
    node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001", SLURM_JOB_GPUS="0,1")
    node.call("prolog", SLURM_JOB_ID="78", SLURM_JOB_UID="2002", SLURM_JOB_GPUS="2")
    assert node.run("node-metrics", "--gpus", "8", "--efa", "16", "--counters", "").returncode == 0
    written = node.read("/var/lib/node_exporter/textfile_collector/ultracluster_node.prom").splitlines()
    assert [line for line in written if line.startswith("ultracluster_gpu_job{")] == [
        f'ultracluster_gpu_job{{gpu="{gpu}",job_id="{job}"}} 1' for gpu, job in ((0, 77), (1, 77), (2, 78))
    ]


def test_a_job_has_a_directory_for_its_metrics_until_it_ends(node: GpuNode) -> None:
    me = str(os.getuid() or 65534)
    assert node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID=me).returncode == 0
    directory = node.root / "var/lib/ultracluster/job-metrics/77"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert str(directory.stat().st_uid) == me
    (directory / "train.prom").write_text("train_step 12\n")
    (directory / "link").symlink_to(node.root / "etc")
    assert node.run("node-metrics", "--gpus", "8", "--efa", "16", "--counters", "").returncode == 0
    written = node.read("/var/lib/node_exporter/textfile_collector/ultracluster_node.prom")
    assert 'train_step{job_id="77"} 12' in written
    assert node.call("epilog", SLURM_JOB_ID="77", SLURM_JOB_UID=me).returncode == 0
    assert not directory.exists()
    assert (node.root / "etc").exists()


def test_a_job_with_the_node_to_itself_has_all_gpus_when_slurm_names_none(node: GpuNode) -> None:
    jobs = node.root / "run/ultracluster/hpc-jobs"
    # Alone for now, with a few of the CPUs: the next job may have the GPUs.
    for few in ({}, {"SLURM_JOB_CPUS_PER_NODE": "8(x2)"}, {"SLURM_JOB_CPUS_PER_NODE": "odd"}):
        assert node.call("prolog", SLURM_JOB_ID="76", SLURM_JOB_UID="2001", **few).returncode == 0
        assert list(jobs.iterdir()) == []
    assert node.call("epilog", SLURM_JOB_ID="76", SLURM_JOB_UID="2001").returncode == 0
    node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001", SLURM_JOB_CPUS_PER_NODE="192(x63),96")
    assert {file.name: file.read_text() for file in jobs.iterdir()} == {str(n): "77\n" for n in range(8)}
    node.call("prolog", SLURM_JOB_ID="78", SLURM_JOB_UID="2002")
    assert "78" not in "".join(file.read_text() for file in jobs.iterdir())


def test_the_epilog_ends_what_the_job_left_behind(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    node.says("processes/2001", "4242")
    node.file(
        "/proc/sysvipc/shm",
        "key shmid perms size cpid lpid nattch uid gid\n0 12 600 1 1 1 0 2001 100\n0 13 600 1 1 1 0 0 2001\n"
        "0 14 600 1 1 1 0 2001 100\n0 15 600 1 1 1 0 2001 100\n",
    )
    assert node.call("epilog", **JOB).returncode == 0
    assert node.calls("pkill") == ["pkill -TERM --uid 2001"]
    assert node.calls("ipcrm") == [f"ipcrm --shmem-id {segment}" for segment in (12, 14, 15)]


def test_what_does_not_listen_is_killed(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    node.says("processes/2001", "4242")
    node.says("stubborn")
    assert node.call("epilog", **JOB).returncode == 0
    assert node.calls("pkill") == ["pkill -TERM --uid 2001", "pkill -KILL --uid 2001"]


def test_what_cannot_be_killed_drains_the_node(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    node.says("processes/2001", "4242")
    node.says("stubborn")
    node.says("unkillable")
    assert node.call("epilog", **JOB).returncode == 1
    assert node.slurm()["Reason"] == "ultracluster: epilog: processes of job 77 cannot be killed: 4242"


def test_a_user_with_another_job_on_the_node_keeps_its_processes(node: GpuNode) -> None:
    node.call("prolog", **JOB)
    node.call("prolog", **(JOB | {"SLURM_JOB_ID": "78"}))
    node.says("processes/2001", "4242")
    assert node.call("epilog", **JOB).returncode == 0
    assert node.calls("pkill") == []
    assert node.call("epilog", **(JOB | {"SLURM_JOB_ID": "78"})).returncode == 0
    assert node.calls("pkill") == ["pkill -TERM --uid 2001"]


@pytest.mark.parametrize("uid", ["0", "999", "65534", "", "x"])
def test_users_of_the_system_are_never_touched(node: GpuNode, uid: str) -> None:
    node.says(f"processes/{uid or 'none'}", "1")
    assert node.call("epilog", SLURM_JOB_ID="77", SLURM_JOB_UID=uid).returncode == 0
    assert node.calls("pkill") == []


def test_a_prolog_that_pcs_lost_in_the_first_minutes_is_forgiven_once(node: GpuNode) -> None:
    node.file("/proc/uptime", "600.12 1200.00\n")
    node.slurm_node("train-1", address="10.1.1.61", host="ip-10-1-1-61", state="IDLE+DRAIN", reason="Prolog error")
    node.call("drain-on-failure")
    assert node.slurm()["State"] == "IDLE"
    node.slurm_node("train-1", address="10.1.1.61", host="ip-10-1-1-61", state="IDLE+DRAIN", reason="Prolog error")
    node.call("drain-on-failure")
    assert "+DRAIN" in node.slurm()["State"]


def test_a_prolog_error_after_a_refusal_or_later_is_never_forgiven(node: GpuNode) -> None:
    drained = {"address": "10.1.1.61", "host": "ip-10-1-1-61", "state": "IDLE+DRAIN", "reason": "Prolog error"}
    node.file("/proc/uptime", "90000.12 1200.00\n")
    node.slurm_node("train-1", **drained)
    node.call("drain-on-failure")
    assert "+DRAIN" in node.slurm()["State"]
    node.file("/proc/uptime", "600.12 1200.00\n")
    node.file("/run/ultracluster/prolog-refused", "")
    (node.root / "run/ultracluster/drain/clear").unlink()
    node.call("drain-on-failure")
    assert "+DRAIN" in node.slurm()["State"]


@pytest.fixture
def ultra(tmp_path: Path) -> GpuNode:
    created = GpuNode(tmp_path)
    for item in health_boot(GB200, efa_devices=0).files:
        if item.path.endswith("-imex"):
            created.file(item.path, item.text).chmod(0o755)
    created.says("units/nvidia-imex.service/enabled")
    created.file("/proc/devices", "Character devices:\n  1 mem\n511 nvidia-caps-imex-channels\n")
    created.file("/etc/nvidia-imex/nodes_config.cfg", "10.9.9.9\n")
    for number in (2, 10):
        created.slurm_node(f"train-{number}", address=f"10.1.1.{60 + number}", host=f"ip-{number}")
    created.slurm_node("train-x-1", address="10.1.2.1", host="other")
    created.slurm_node("ultra-1", address="10.1.3.1", host="other")
    return created


IMEX = JOB | {"SLURMD_NODENAME": "train-1", "SLURM_JOB_NODELIST": "train-[1,2,10]", "SLURM_JOB_OVERSUBSCRIBE": "NO"}


def test_a_job_on_an_ultraserver_gets_one_imex_domain_of_its_nodes_there(ultra: GpuNode) -> None:
    assert ultra.call("prolog", **IMEX).returncode == 0
    written = ultra.read("/etc/nvidia-imex/nodes_config.cfg").split()
    assert sorted(written) == ["10.1.1.61", "10.1.1.62", "10.1.1.70"]
    order = [call for call in ultra.calls("systemctl") if "imex" in call]
    assert order[-2:] == ["systemctl stop nvidia-imex.service", "systemctl start nvidia-imex.service"]
    assert (ultra.root / "dev/nvidia-caps-imex-channels/channel0").exists()


def test_a_job_that_shares_its_nodes_leaves_imex_alone(ultra: GpuNode) -> None:
    assert ultra.call("prolog", **(IMEX | {"SLURM_JOB_OVERSUBSCRIBE": "OK"})).returncode == 0
    assert ultra.read("/etc/nvidia-imex/nodes_config.cfg") == "10.9.9.9\n"


def test_imex_starts_for_the_only_job_if_slurm_omits_exclusive(ultra: GpuNode) -> None:
    status = {
        name: value for name, value in IMEX.items() if name not in ("SLURM_JOB_OVERSUBSCRIBE", "SLURM_JOB_NODELIST")
    }
    status["SLURM_NODELIST"] = "train-[1,2,10]"
    assert ultra.call("prolog", **status).returncode == 0
    written = ultra.read("/etc/nvidia-imex/nodes_config.cfg")
    assert len(written.split()) == 3
    assert ultra.call("prolog", **(status | {"SLURM_JOB_ID": "78"})).returncode == 0
    assert len([call for call in ultra.calls("systemctl") if "start nvidia-imex" in call]) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("units/nvidia-imex.service/broken", "nvidia-imex.service did not start within 60 s"),
        ("slurm-down", "the controller has no addresses of the nodes of the job"),
    ],
)
def test_a_domain_that_cannot_be_made_refuses_the_job(ultra: GpuNode, fault: str, reason: str) -> None:
    ultra.says(fault)
    assert ultra.call("prolog", **IMEX).returncode == 1
    assert ultra.health("imex") == f"failed: {reason}\n"


def test_an_image_without_imex_refuses_the_job(ultra: GpuNode) -> None:
    ultra.forgets("units/nvidia-imex.service/enabled")
    assert ultra.call("prolog", **IMEX).returncode == 1
    assert "is not enabled in the image" in ultra.slurm()["Reason"]


def test_only_ultraservers_get_the_script_for_imex() -> None:
    assert not any("imex" in file.path for file in health_boot(P5EN, efa_devices=16).files)
    assert any("imex" in file.path for file in health_boot(GB200, efa_devices=4).files)


def test_settings_of_a_cluster_come_before_those_of_the_checks() -> None:
    result = health_settings({"Prolog": "/fsx/mine.sh", "SchedulerParameters": "defer,bf_continue"})
    # It runs the Prolog of the cluster.
    assert result["Prolog"] == "/usr/local/sbin/ultracluster-boot-guard"
    assert result["Epilog"] == "/usr/local/sbin/ultracluster-epilog"
    assert result["SchedulerParameters"] == "defer,bf_continue,nohold_on_prolog_fail"
    assert health_settings(result) == result
