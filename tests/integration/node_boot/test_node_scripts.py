"""Updates of a node's files as on a node, whose root directory is `/`: the program runs in a real root file system."""

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.node_boot.gpu_node import BIN, P5EN
from support.root_file_system import Machine
from ultracluster.boot import NodeFile, health_boot, in_place_files, node_scripts_archive, node_scripts_boot

# The Parameter Store and a bucket, in the words in which the program calls them.
AWS = """\
#!/usr/bin/env bash
case $* in
    "ssm get-parameter --name "*" --region us-east-2 --query Parameter.Value --output text") cat "/parameters$4" ;;
    "s3 cp --only-show-errors --region us-east-2 s3://assets/"*) cp "/assets/${6##*/}" "$7" ;;
    *) echo "the stand-in does not know: $*" >&2 && exit 64 ;;
esac
"""
PARAMETER = "/ultracluster/llama/node-scripts"
WORKSPACE = "/ultracluster/llama/remote-write-url"
KEPT = "/var/lib/ultracluster/node-scripts"
FILES = in_place_files([health_boot(P5EN, efa_devices=16)])
WITHOUT_EPILOG = [file for file in FILES if file.path != f"{BIN}epilog"]


def publish(machine: Machine, files: Sequence[NodeFile]) -> str:
    """Put a version into the bucket, and its URL and checksum into the parameter."""
    content = node_scripts_archive({"train": files})
    checksum = hashlib.sha256(content).hexdigest()
    machine.write(f"/assets/{checksum}.tar", content)
    machine.write(f"/parameters{PARAMETER}", f"s3://assets/{checksum}.tar {checksum}\n")
    return checksum


def update(machine: Machine) -> subprocess.CompletedProcess[str]:
    return machine.run(f"{BIN}node-scripts", "--parameter", PARAMETER, "--region", "us-east-2", "--group", "train")


@pytest.fixture
def node(tmp_path: Path) -> Machine:
    """A node with the first version."""
    created = Machine(tmp_path / "machine")
    created.write("/usr/local/sbin/aws", AWS, 0o755)
    (program,) = (file for file in node_scripts_boot(cluster="llama", region="us-east-2").files if file.mode == "0755")
    created.write(program.path, program.text, 0o755)
    publish(created, FILES)
    done = update(created)
    assert (done.returncode, done.stderr) == (0, "")
    return created


def test_an_update_that_removes_a_file_completes_and_restarts_what_reads_it(node: Machine) -> None:
    assert node.has(f"{BIN}epilog")
    node.write("/run/ultracluster/metrics/address", f"{WORKSPACE} https://old\n")
    node.write(f"/parameters{WORKSPACE}", "https://new\n")
    collector = NodeFile(path=f"{BIN}collect-node", text="#!/bin/sh\n", mode="0755")
    checksum = publish(node, [*WITHOUT_EPILOG, collector])
    done = update(node)
    assert (done.returncode, done.stderr) == (0, "")
    assert (node.has(f"{BIN}epilog"), node.has(f"{BIN}prolog")) == (False, True)
    assert node.read(f"{KEPT}/sha256") == f"{checksum}\n"
    assert [call for call in node.calls if call.startswith("systemctl")] == [
        "systemctl try-restart ultracluster-metrics-*.service",
        "systemctl try-restart ultracluster-metrics-agent.service",
    ]


def test_after_a_reboot_the_version_without_the_file_is_there(node: Machine) -> None:
    publish(node, WITHOUT_EPILOG)
    assert update(node).returncode == 0
    node.reboot()
    done = update(node)
    assert (done.returncode, done.stdout) == (0, "")
    assert node.read("/run/ultracluster/software/node-scripts") == "ok\n"
    assert node.read("/run/ultracluster/health/node-scripts") == "ok\n"
