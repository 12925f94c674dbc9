"""The checks of a node read what a real GPU printed: `support/h100`."""

import subprocess
from pathlib import Path

import pytest

from support import ROOT, h100
from support.node_boot import PROGRAMS
from support.node_boot.gpu_node import GpuNode
from ultracluster.catalogue.ec2 import instance_type

SCRIPTS = ROOT / "constructs/ultracluster/boot/scripts"


@pytest.fixture
def node(tmp_path: Path) -> GpuNode:
    """A node with one H100, which has no NVLink."""
    result = GpuNode(tmp_path, instance_type=instance_type("p5.4xlarge"), efa=1)
    for name, output in {"gpus": "gpus", "rows": "remapped-rows", "fabric": "fabric", "kernel": "kernel"}.items():
        result.says(name, h100.text(output))
    result.says("nvlink", "")
    return result


def test_a_healthy_gpu_passes_after_a_fault_of_a_program(node: GpuNode) -> None:
    assert "): 31, pid=" in h100.text("kernel")
    assert node.call("health-check").returncode == 0, node.health("devices")


def test_a_node_without_nvlink_where_its_type_has_it_fails(node: GpuNode) -> None:
    wanted = node.root / "etc/ultracluster/health"
    wanted.write_text(wanted.read_text().replace("nvlinks 0\n", "nvlinks 18\n"))
    assert node.call("health-check").returncode == 1
    assert node.health("devices") == "failed: no GPU has NVLink\n"


def test_an_xid_of_the_list_fails(node: GpuNode) -> None:
    node.says("kernel", h100.text("kernel").replace("): 31,", "): 79,"))
    assert node.call("health-check").returncode == 1
    assert node.health("devices") == "failed: XID 79 on GPU 0000:00:06\n"


def test_an_unknown_field_is_named_as_the_stand_in_does() -> None:
    stand_in = (PROGRAMS / "nvidia-smi").read_text()
    assert h100.text("not-a-field").strip().replace("no_such_field", "fabric.state") in stand_in


def test_the_judge_reads_the_newest_nccl_tests(tmp_path: Path) -> None:
    (tmp_path / "etc/ultracluster").mkdir(parents=True)
    (tmp_path / "etc/ultracluster/nccl-floors").write_text("p5.4xlarge 1 1073741824 1\n")
    done = subprocess.run(
        ["bash", SCRIPTS / "nccl-judge.sh", "--type", "p5.4xlarge", "--nodes", "1", "--gpus-per-node", "1"],
        input=h100.text("all_reduce_perf"), env={"ULTRACLUSTER_ROOT": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True,
    )  # fmt: skip
    # One rank sends nothing: its bus bandwidth is zero, and eight sizes were read.
    assert done.stdout.count("no floor known") == 7, done.stdout
    assert "FAILED: 1073741824 bytes: 0.00 GB/s, and 1 is the floor for 1 x p5.4xlarge\n" in done.stdout
    assert done.stdout.count("FAILED") == 1
