"""The prolog that refuses jobs on a node whose boot failed, in bash; Slurm is a stand-in."""

from pathlib import Path

import pytest

from support.node_boot.gpu_node import GpuNode
from ultracluster.boot import NodeScript, boot_guard

JOB = {"SLURM_JOB_ID": "77", "SLURM_JOB_UID": "2001"}
SCRIPTS = [
    NodeScript(name="EDR agent", content=b"#!/bin/sh\n"),
    NodeScript(name="late", content=b"#!/bin/sh\n", stage="nodeReady"),
    NodeScript(name="optional", content=b"#!/bin/sh\n", on_error="CONTINUE"),
]


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    """A node that has booted, and runs the prolog of its cluster."""
    result = GpuNode(tmp_path)
    prolog = result.file("/fsx/prolog", f"#!/bin/bash\necho ran >>{tmp_path}/ran\n")
    prolog.chmod(0o755)
    for item in boot_guard(SCRIPTS, prolog=str(prolog)).files:
        result.file(item.path, item.text).chmod(int(item.mode, 8))
    result.file("/run/ultracluster/health/boot", "ok\n")
    result.file("/proc/uptime", "300.12 9000.00\n")
    result.file("/opt/ultracluster/scripts/EDR agent.result", "ok\n")
    return result


def start(node: GpuNode, script: str = "boot-guard") -> tuple[int, bool]:
    """Start a job; the exit code, and whether the prolog of the cluster ran."""
    ran = node.root.parent / "ran"
    ran.unlink(missing_ok=True)
    return node.call(script, **JOB).returncode, ran.exists()


def test_a_node_that_booted_runs_the_prolog_of_the_cluster(node: GpuNode) -> None:
    assert start(node) == (0, True)
    assert start(node, "prolog") == (0, False), "that of the library has no other"


def test_a_prolog_that_fails_or_is_missing_refuses_the_job(node: GpuNode) -> None:
    node.file("/fsx/prolog", "#!/bin/bash\nexit 3\n")
    assert start(node)[0] == 1
    (node.root / "fsx/prolog").unlink()
    assert start(node) == (1, False)
    node.file("/etc/ultracluster/prolog", "")
    assert start(node) == (0, False)


@pytest.mark.parametrize("state", ["boot", "script", "users"])
def test_a_node_whose_boot_failed_is_drained_with_the_reason(node: GpuNode, state: str) -> None:
    node.file(f"/run/ultracluster/health/{state}", "failed: no disk\n")
    assert start(node) == (1, False)
    assert node.slurm()["Reason"] == f"ultracluster: {state}: no disk"


def test_a_boot_that_did_not_end_starts_no_job(node: GpuNode) -> None:
    (node.root / "run/ultracluster/health/boot").unlink()
    assert start(node) == (1, False)


@pytest.mark.parametrize("prolog", ["boot-guard", "prolog"])
def test_a_script_that_could_not_be_downloaded_starts_no_job(node: GpuNode, prolog: str) -> None:
    (node.root / "opt/ultracluster/scripts/EDR agent.result").unlink()
    assert start(node, prolog) == (1, False)
    assert node.slurm()["Reason"].startswith("ultracluster: script: AWS PCS did not run the script EDR agent")


def test_a_script_after_the_start_of_slurmd_has_an_hour(node: GpuNode) -> None:
    node.file("/proc/uptime", "3599.00 1.00\n")
    assert start(node) == (0, True)
    node.file("/proc/uptime", "3600.00 1.00\n")
    assert start(node) == (1, False)


def test_a_node_whose_boot_script_wrote_no_list_of_scripts_runs_jobs(node: GpuNode) -> None:
    (node.root / "etc/ultracluster/scripts").unlink()
    assert start(node, "prolog") == (0, False)
    assert start(node) == (0, True)
