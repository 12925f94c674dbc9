"""Files that nodes fetch and update in place, through the real program, with the parameter and the bucket as files."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.node_boot import Node
from support.node_boot.gpu_node import BIN, P5EN, GpuNode
from support.waiting import wait_until
from ultracluster.boot import (
    NodeFile,
    health_boot,
    in_place_files,
    node_scripts_archive,
    node_scripts_boot,
    without_in_place_files,
)
from ultracluster.catalogue.ec2 import INSTANCE_TYPES

AWS = Path(__file__).parents[1] / "support/node_boot/aws"
PARAMETER = "/ultracluster/llama/node-scripts"
ARGUMENTS = ("--parameter", PARAMETER, "--region", "us-east-2", "--group", "train")
HEALTH = in_place_files([health_boot(P5EN, efa_devices=16)])
SETTINGS = "/etc/ultracluster/health"


def publish(node: Node, files: Sequence[NodeFile], *, checksum: str = "", groups: Sequence[str] = ("train",)) -> None:
    """Put an archive into the bucket, and its URL and checksum into the parameter."""
    content = node_scripts_archive(dict.fromkeys(groups, files))
    checksum = checksum or hashlib.sha256(content).hexdigest()
    (node.state / "store" / f"{checksum}.tar").write_bytes(content)
    (node.state / "parameters.json").write_text(json.dumps({PARAMETER: f"s3://assets/{checksum}.tar {checksum}"}))


def changed(path: str, text: str, files: Sequence[NodeFile] = HEALTH) -> list[NodeFile]:
    others = [file for file in files if file.path != path]
    return [*others, NodeFile(path=path, text=text, mode="0755" if path.startswith(BIN) else "0644")]


def update(node: Node, **environment: str) -> subprocess.CompletedProcess[str]:
    return node.run("node-scripts", *ARGUMENTS, ULTRACLUSTER_PAUSE="0", **environment)


def software(node: Node) -> str:
    return node.read("/run/ultracluster/software/node-scripts")


def fetches(node: Node) -> int:
    return len([call for call in node.calls("aws") if " s3 cp " in call])


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node that boots: it has none of the files yet."""
    created = Node(tmp_path)
    shutil.copy(AWS, created.state / "aws")
    publish(created, HEALTH)
    return created


@pytest.fixture
def gpu_node(tmp_path: Path) -> GpuNode:
    """A healthy node with Slurm on it, which has the first version."""
    created = GpuNode(tmp_path)
    shutil.copy(AWS, created.state / "aws")
    publish(created, HEALTH)
    assert update(created).returncode == 0
    return created


def test_a_node_that_boots_gets_its_files_with_their_modes(node: Node) -> None:
    done = update(node)
    assert (done.returncode, done.stderr) == (0, "")
    for file in HEALTH:
        assert node.read(file.path) == file.text
        assert (node.root / file.path.lstrip("/")).stat().st_mode & 0o777 == int(file.mode, 8)
    assert (node.health("node-scripts"), software(node)) == ("ok\n", "ok\n")
    assert [path.name for path in (node.root / "var/lib/ultracluster/node-scripts").glob(".*")] == []


def test_a_second_run_fetches_nothing(node: Node) -> None:
    assert update(node).returncode == 0
    again = update(node)
    assert (again.returncode, again.stdout, fetches(node)) == (0, "", 1)


def test_each_node_group_gets_its_own_files(node: Node) -> None:
    groups = {"train": changed(SETTINGS, "gpus 8\n"), "train-2": changed(SETTINGS, "gpus 4\n")}
    content = node_scripts_archive(groups)
    checksum = hashlib.sha256(content).hexdigest()
    (node.state / "store" / f"{checksum}.tar").write_bytes(content)
    (node.state / "parameters.json").write_text(json.dumps({PARAMETER: f"s3://assets/{checksum}.tar {checksum}"}))
    assert update(node).returncode == 0
    assert node.read(SETTINGS) == "gpus 8\n"
    assert not list((node.root / "etc").rglob("train*"))


def test_a_changed_check_replaces_its_file_and_restarts_nothing(gpu_node: GpuNode) -> None:
    publish(gpu_node, changed(SETTINGS, f"{gpu_node.read(SETTINGS)}new-check 1\n"))
    assert update(gpu_node).returncode == 0
    assert gpu_node.read(SETTINGS).endswith("new-check 1\n")
    assert gpu_node.calls("systemctl") == []
    # The old program and the new settings, if they ever meet, are no failure of the node.
    done = gpu_node.call("health-check")
    assert (done.returncode, gpu_node.health("devices")) == (0, "ok\n")
    assert "unknown name new-check is ignored" in done.stderr


def test_a_changed_collector_restarts_the_collectors(gpu_node: GpuNode) -> None:
    publish(gpu_node, changed("/usr/local/sbin/ultracluster-collect-node", "#!/bin/sh\nexec node_exporter --new\n"))
    assert update(gpu_node).returncode == 0
    assert gpu_node.calls("systemctl") == ["systemctl try-restart ultracluster-metrics-*.service"]


def test_a_file_that_the_new_version_lacks_is_removed(gpu_node: GpuNode) -> None:
    publish(gpu_node, [file for file in HEALTH if not file.path.endswith("epilog")])
    assert update(gpu_node).returncode == 0
    assert not (gpu_node.root / f"{BIN}epilog".lstrip("/")).exists()
    assert (gpu_node.root / f"{BIN}drain-on-failure".lstrip("/")).exists(), "that one is of the boot script"


def wrong_checksum(node: Node) -> str:
    publish(node, changed(SETTINGS, "gpus 1\n"), checksum="0" * 64)
    return f"s3://assets/{'0' * 64}.tar does not have the checksum of {PARAMETER}"


def half_download(node: Node) -> str:
    publish(node, changed(SETTINGS, "gpus 1\n"))
    node.says("half")
    return "cannot be fetched"


def no_object(node: Node) -> str:
    publish(node, changed(SETTINGS, "gpus 1\n"))
    for archive in (node.state / "store").iterdir():
        archive.unlink()
    return "cannot be fetched"


def no_parameter(node: Node) -> str:
    (node.state / "parameters.json").write_text("{}")
    return f"the parameter {PARAMETER} cannot be read"


def no_permission(node: Node) -> str:
    node.says("denied", "ssm get-parameter")
    return f"the parameter {PARAMETER} cannot be read"


def no_checksum(node: Node) -> str:
    (node.state / "parameters.json").write_text(json.dumps({PARAMETER: "s3://assets/x.tar"}))
    return f"{PARAMETER} holds no URL and checksum: s3://assets/x.tar"


def other_groups_only(node: Node) -> str:
    publish(node, changed(SETTINGS, "gpus 1\n"), groups=("eval",))
    return "has no files of train"


def foreign_file(node: Node) -> str:
    publish(node, changed("/etc/passwd", "root::0:0::/:/bin/sh\n"))
    return "has files that are not the library's"


def syntax_error(node: Node) -> str:
    publish(node, changed(f"{BIN}health-check", "#!/usr/bin/env bash\nif true; then\n"))
    return "usr/local/sbin/ultracluster-health-check of s3://assets/"


def not_executable(node: Node) -> str:
    others = [file for file in HEALTH if file.path != f"{BIN}prolog"]
    publish(node, [*others, NodeFile(path=f"{BIN}prolog", text="#!/usr/bin/env bash\n", mode="0644")])
    return "is not executable"


FAULTS = [
    *(wrong_checksum, half_download, no_object, no_parameter, no_permission, no_checksum),
    *(other_groups_only, foreign_file, syntax_error, not_executable),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_update_keeps_the_old_files_is_reported_and_drains_nothing(gpu_node: GpuNode, fault: object) -> None:
    assert callable(fault)
    reason = fault(gpu_node)
    before = {path: path.read_bytes() for path in gpu_node.root.rglob("ultracluster/*") if path.is_file()}
    done = update(gpu_node)
    assert done.returncode == 1
    assert reason in done.stderr
    assert software(gpu_node).startswith("failed: ")
    assert reason in software(gpu_node)
    for file in HEALTH:
        assert gpu_node.read(file.path) == file.text
    assert gpu_node.health("node-scripts") == "ok\n"
    kept = {path for path in before if "software" not in path.parts}
    assert all(path.read_bytes() == before[path] for path in kept)
    for _ in range(3):
        assert gpu_node.call("drain-on-failure").returncode == 0
    assert "+DRAIN" not in gpu_node.slurm()["State"]
    # The metric of the alert SoftwareMissing.
    gpu_node.install("node-metrics")
    assert gpu_node.call("node-metrics", "--gpus", "8", "--efa", "16", "--counters", "").returncode == 0
    exported = gpu_node.read("/var/lib/node_exporter/textfile_collector/ultracluster_node.prom")
    assert 'ultracluster_software_ok{item="node-scripts"} 0' in exported


def test_a_node_that_never_had_the_files_is_drained_and_resumed_when_it_has_them(tmp_path: Path) -> None:
    node = GpuNode(tmp_path)
    shutil.copy(AWS, node.state / "aws")
    reason = no_parameter(node)
    assert update(node).returncode == 1
    assert len(node.calls("aws")) == 5, "its role may have its permissions a little later"
    assert reason in node.health("node-scripts")
    for _ in range(2):
        node.call("drain-on-failure")
    assert node.slurm()["Reason"].startswith("ultracluster: node-scripts: the scripts of the node cannot be fetched")
    publish(node, HEALTH)
    assert update(node).returncode == 0
    for _ in range(3):
        node.call("drain-on-failure")
    assert "+DRAIN" not in node.slurm()["State"]


def test_a_reboot_without_the_parameter_store_keeps_the_files_of_the_disk(gpu_node: GpuNode) -> None:
    gpu_node.reboot()
    no_permission(gpu_node)
    assert update(gpu_node).returncode == 1
    assert gpu_node.read(f"{BIN}prolog") == next(file.text for file in HEALTH if file.path == f"{BIN}prolog")
    assert not (gpu_node.root / "run/ultracluster/health/node-scripts").exists()


def test_a_program_that_runs_keeps_its_text(gpu_node: GpuNode) -> None:
    path = gpu_node.root / f"{BIN}prolog".lstrip("/")
    old = path.read_text()
    publish(gpu_node, changed(f"{BIN}prolog", "#!/bin/sh\n"))
    with path.open() as running:
        assert update(gpu_node).returncode == 0
        assert (running.read(), path.read_text()) == (old, "#!/bin/sh\n")


def test_an_update_waits_for_a_prolog_that_runs(gpu_node: GpuNode) -> None:
    """A new check must not come between the steps of a prolog, which here waits for an epilog."""
    publish(gpu_node, changed(f"{BIN}health-check", "#!/bin/sh\nexit 9\n"))
    lock = gpu_node.root / "run/ultracluster/node-scripts.lock"
    with (gpu_node.root / "run/ultracluster/epilog.lock").open("w") as epilog:
        fcntl.flock(epilog, fcntl.LOCK_EX)
        prolog = subprocess.Popen(
            [gpu_node.root / f"{BIN}prolog".lstrip("/")],
            env=gpu_node.environment | {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "2001", "ULTRACLUSTER_LOCK_WAIT": "600"},
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until("the prolog has the lock", lambda: is_held(lock))
        waits = update(gpu_node, ULTRACLUSTER_LOCK_WAIT="0")
    assert (waits.returncode, waits.stderr) == (0, "")
    assert "the update waits" in waits.stdout
    _, errors = prolog.communicate()
    assert (prolog.returncode, errors) == (0, "")
    # Not a failure: the next run has it.
    assert software(gpu_node) == "ok\n"
    assert update(gpu_node, ULTRACLUSTER_LOCK_WAIT="0").returncode == 0
    assert gpu_node.read(f"{BIN}health-check") == "#!/bin/sh\nexit 9\n"


def test_the_nodes_that_a_wrong_check_drained_resume_when_they_have_the_right_one(gpu_node: GpuNode) -> None:
    gpu_node.file("/run/ultracluster/health/devices", "failed: the check ended with code 2 and without a result\n")
    for _ in range(2):
        gpu_node.call("drain-on-failure")
    assert "+DRAIN" in gpu_node.slurm()["State"]
    publish(gpu_node, changed(SETTINGS, f"{gpu_node.read(SETTINGS)}new-check 1\n"))
    assert update(gpu_node).returncode == 0
    assert gpu_node.health("devices") == "ok\n"
    for _ in range(3):
        gpu_node.call("drain-on-failure")
    assert "+DRAIN" not in gpu_node.slurm()["State"]
    gpu_node.gpus(7)
    gpu_node.file("/run/ultracluster/health/devices", "failed: 7 of 8 GPUs are there\n")
    publish(gpu_node, HEALTH)
    assert update(gpu_node).returncode == 0, "a node that is not well is no failure of the update"
    assert (gpu_node.health("devices"), software(gpu_node)) == ("failed: 7 of 8 GPUs are there\n", "ok\n")


def test_a_node_resumes_whose_file_system_did_not_answer_as_a_job_started(gpu_node: GpuNode) -> None:
    """Lustre fails over in a minute; the reason of the drain is that of the devices, which no other job checks."""
    gpu_node.file("/etc/ultracluster/mounts", "/fsx lustre no\n")
    gpu_node.file("/proc/self/mountinfo", "44 29 0:40 / /fsx rw,noatime shared:2 - lustre fs@tcp:/m rw,flock\n")
    gpu_node.file("/run/ultracluster/health/mounts", "failed: /fsx does not answer within 5 s\n")
    assert gpu_node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001").returncode == 1
    assert gpu_node.slurm()["Reason"] == "ultracluster: devices: /fsx does not answer within 5 s"
    gpu_node.file("/run/ultracluster/health/mounts", "ok\n")
    for _ in range(3):
        gpu_node.call("drain-on-failure")
    assert "+DRAIN" in gpu_node.slurm()["State"]
    assert update(gpu_node).returncode == 0
    for _ in range(3):
        gpu_node.call("drain-on-failure")
    assert "+DRAIN" not in gpu_node.slurm()["State"]


def test_a_command_that_hangs_in_the_driver_is_not_followed_by_others(gpu_node: GpuNode) -> None:
    gpu_node.gpus(7)
    assert gpu_node.call("health-check").returncode == 1
    gpu_node.gpus()
    with subprocess.Popen(["/bin/sleep", "300"]) as hanging:
        gpu_node.says("hangs", str(hanging.pid))
        assert update(gpu_node).returncode == 0
        assert gpu_node.health("devices") == "failed: 7 of 8 GPUs are there\n"
        hanging.kill()
    assert update(gpu_node).returncode == 0
    assert gpu_node.health("devices") == "ok\n"


@pytest.mark.parametrize("address", ["https://new", "https://old", None])
def test_the_agent_is_restarted_for_a_workspace_that_was_created_again(node: Node, address: str | None) -> None:
    """Restart it: it reads the address as it starts, and all nodes would send to a workspace that is gone."""
    name = "/ultracluster/llama/remote-write-url"
    assert update(node).returncode == 0
    assert node.calls("systemctl") == [], "without an agent there is none to restart"
    node.file("/run/ultracluster/metrics/address", f"{name} https://old\n")
    store = node.state / "parameters.json"
    # While there is no workspace, the agent keeps what it has.
    store.write_text(json.dumps(json.loads(store.read_text()) | ({name: address} if address else {})))
    done = update(node)
    assert done.returncode == 0
    restarts = ["systemctl try-restart ultracluster-metrics-agent.service"] if address == "https://new" else []
    assert node.calls("systemctl") == restarts


def is_held(lock: Path) -> bool:
    if not lock.exists():
        return False
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def test_two_runs_at_once_update_once(node: Node) -> None:
    program = node.root / "usr/local/sbin/node-scripts"
    assert node.run("node-scripts").returncode == 2, "no arguments; the program is there now"
    environment = node.environment | {"ULTRACLUSTER_PAUSE": "0"}
    runs = [subprocess.Popen([program, *ARGUMENTS], env=environment) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert fetches(node) == 1


@pytest.mark.parametrize(
    "arguments",
    [("--group", "../x"), ("--group", "train", "--region"), ("--nodes", "1"), ARGUMENTS[:2], ARGUMENTS[2:]],
)
def test_wrong_usage(node: Node, arguments: tuple[str, ...]) -> None:
    assert node.run("node-scripts", *arguments).returncode == 2


def test_the_boot_script_has_no_file_that_changes_in_place() -> None:
    boot = health_boot(P5EN, efa_devices=16)
    (rest,) = without_in_place_files([boot])
    assert rest.units == boot.units
    assert {file.path for file in rest.files} | {file.path for file in HEALTH} == {file.path for file in boot.files}
    assert not any(os.path.basename(file.path).startswith("ultracluster-prolog") for file in rest.files)


def test_the_same_files_give_the_same_archive_in_any_order() -> None:
    assert node_scripts_archive({"train": HEALTH}) == node_scripts_archive({"train": HEALTH[::-1]})


def test_all_nodes_ask_at_different_times() -> None:
    boot = node_scripts_boot(cluster="llama", region="us-east-2")
    (timer,) = (file.text for file in boot.files if file.path.endswith(".timer"))
    assert "OnUnitInactiveSec=10min" in timer
    assert "RandomizedDelaySec=5min" in timer
    (service,) = (file.text for file in boot.files if file.path.endswith(".service"))
    assert "EnvironmentFile=/etc/ultracluster/node-group\n" in service
    arguments = " ".join((*ARGUMENTS[:-1], "${NODE_GROUP}"))
    assert f"ExecStart=-/usr/local/sbin/ultracluster-node-scripts {arguments}\n" in service


def resumes(node: GpuNode) -> bool:
    for _ in range(3):
        assert node.call("drain-on-failure").returncode == 0
    return "DRAIN" not in node.slurm()["State"]


def test_a_node_is_cleaned_again_after_processes_that_could_not_be_killed(gpu_node: GpuNode) -> None:
    """They wait for a file system, which comes back; what they left in memory goes with them."""
    publish(gpu_node, HEALTH)
    gpu_node.says("processes/2001", "4242")
    gpu_node.says("stubborn")
    gpu_node.says("unkillable")
    assert gpu_node.call("epilog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001").returncode == 1
    gpu_node.file("/proc/sysvipc/shm", "key shmid uid\n0 12 2001\n")
    assert update(gpu_node).returncode == 0
    assert gpu_node.health("epilog") == "failed: processes of job 77 cannot be killed: 4242\n"
    assert gpu_node.calls("ipcrm") == []
    assert not resumes(gpu_node)
    gpu_node.forgets("unkillable")
    assert update(gpu_node).returncode == 0
    assert gpu_node.calls("ipcrm") == ["ipcrm --shmem-id 12"]
    assert resumes(gpu_node)


def test_imex_is_started_again_on_a_drained_node_without_a_job(gpu_node: GpuNode) -> None:
    files = in_place_files([health_boot(INSTANCE_TYPES["p6e-gb200.36xlarge"], efa_devices=16)])
    (program,) = [file for file in files if file.path.endswith("-imex")]
    gpu_node.file(program.path, program.text).chmod(0o755)
    gpu_node.file("/proc/devices", "511 nvidia-caps-imex-channels\n")
    gpu_node.says("units/nvidia-imex.service/enabled")
    gpu_node.says("units/nvidia-imex.service/broken")
    publish(gpu_node, HEALTH)
    job = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "2001", "SLURM_JOB_OVERSUBSCRIBE": "NO"}
    job |= {"SLURMD_NODENAME": "train-1", "SLURM_JOB_NODELIST": "train-1"}
    assert gpu_node.call("prolog", **job).returncode == 1
    gpu_node.forgets("units/nvidia-imex.service/broken")
    other = gpu_node.file("/run/ultracluster/jobs/78", "2001\n")
    assert update(gpu_node).returncode == 0
    assert gpu_node.health("imex").startswith("failed"), "a job that runs would lose its domain"
    other.unlink()
    assert update(gpu_node).returncode == 0
    assert gpu_node.health("imex") == "ok\n"
    assert resumes(gpu_node)
