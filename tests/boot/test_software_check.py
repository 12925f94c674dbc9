"""The check of the software of a node, in bash: versions of its packages against the oldest ones."""

import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import deep_check

PACKAGES = """\
# EFA installer version: {efa}
# Debug packages installed: no
# Packages installed:
efa_3.1.0-1.amzn1_all efa-config_1.18_all libfabric-aws-bin_{libfabric}_amd64 libfabric-aws-dev_{libfabric}_amd64
rdma-core_63.0-1_amd64 libnccl-ofi_{plugin}-1_amd64
"""


class Node:
    def __init__(self, directory: Path) -> None:
        self.root, self.bin = directory / "root", directory / "bin"
        self.bin.mkdir()
        for file in deep_check("p6-b300.48xlarge").files:
            path = self.root / file.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
            path.chmod(int(file.mode, 8))
        self.packages()
        self.prints("nvidia-smi", "580.95.05")
        self.prints("modinfo", "2.6")

    def prints(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\necho {text}\n")
        (self.bin / name).chmod(0o755)

    def packages(self, efa: str = "1.49.0", libfabric: str = "2.4.0amzn5.0", plugin: str = "1.20.0") -> None:
        (self.root / "opt/amazon").mkdir(parents=True, exist_ok=True)
        text = PACKAGES.format(efa=efa, libfabric=libfabric, plugin=plugin)
        (self.root / "opt/amazon/efa_installed_packages").write_text(text)

    def check(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.root / "usr/local/sbin/ultracluster-software-check", *arguments],
            env={
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "ULTRACLUSTER_ROOT": str(self.root),
                "SLURMD_NODENAME": "train-1",
            },
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    def states(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in (self.root / "run/ultracluster/software").iterdir()}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_a_node_with_new_software_passes(node: Node) -> None:
    assert node.check() == (0, "")
    assert node.check("--state") == (0, "")
    assert node.states() == {
        "driver": "ok: 580.95.05\n",
        "efa-installer": "ok: 1.49.0\n",
        "libfabric": "ok: 2.4.0amzn5.0\n",
        "aws-ofi-nccl": "ok: 1.20.0\n",
        "gdrcopy": "ok: 2.6\n",
    }


def test_each_part_that_is_older_is_named(node: Node) -> None:
    node.packages("1.43.1", "2.1.0amzn5.0", "1.16.2")
    node.prints("nvidia-smi", "570.133.20")
    node.prints("modinfo", "2.4.1")
    code, text = node.check("--state")
    assert code == 1
    assert text.splitlines() == [
        "FAILED: train-1: driver 570.133.20 is older than 580",
        "FAILED: train-1: efa-installer 1.43.1 is older than 1.44.0",
        "FAILED: train-1: libfabric 2.1.0amzn5.0 is older than 2.3.1amzn1.0",
        "FAILED: train-1: aws-ofi-nccl 1.16.2 is older than 1.17.1",
        "FAILED: train-1: gdrcopy 2.4.1 is older than 2.5",
    ]
    assert node.states()["driver"] == "failed: 570.133.20 is older than 580\n"


def test_given_versions_replace_those_of_the_type_and_wrong_names_are_refused(node: Node) -> None:
    assert node.check("driver=570") == (0, "")
    assert node.check("driver=590.1") == (1, "FAILED: train-1: driver 580.95.05 is older than 590.1\n")
    assert node.check("nixl=0.9.0") == (0, "train-1: the version of nixl is not known\n")
    # In an image that EFA's installer takes for one of NVIDIA's.
    (node.root / "opt/amazon/efa_installed_packages").write_text("libnccl-ofi-ngc-v3_1.18.0-1_amd64\n")
    assert node.check("aws-ofi-nccl=1.20.0") == (1, "FAILED: train-1: aws-ofi-nccl 1.18.0 is older than 1.20.0\n")
    assert node.check("drivers=1") == (2, "software-check: unknown name drivers\n")


@pytest.mark.parametrize(("driver", "code"), [("580.173.02", 0), ("595.91.07", 1), ("595", 1), ("600.1", 1)])
def test_a_driver_that_is_too_new_for_efa_is_named(node: Node, driver: str, code: int) -> None:
    node.prints("nvidia-smi", driver)
    returned, output = node.check("--state", "driver=570", "driver-below=595")
    assert (returned, "EFA needs one older than 595" in output) == (code, bool(code))
    assert node.states()["driver"] == f"ok: {driver}\n"
    assert node.states()["driver-below"].startswith("failed: " if code else "ok: ")
