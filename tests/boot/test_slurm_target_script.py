"""The script that finds Slurm's controller runs here in bash, on the slurm.conf of a node that is made of files."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.node_boot import Node

CONF = "/run/slurm/conf/slurm.conf"
OUT = "/run/ultracluster/metrics/slurm.json"


def target(node: Node, conf: str) -> str:
    node.file(CONF, conf)
    done = node.run("slurm-target")
    assert (done.returncode, done.stderr) == (0, "")
    ((group),) = json.loads(node.read(OUT))
    assert group.keys() == {"targets"}
    (result,) = group["targets"]
    assert isinstance(result, str)
    return result


@pytest.mark.parametrize(
    ("conf", "wanted"),
    [
        ("ClusterName=llama\nSlurmctldHost=primary(10.0.3.17)\n", "10.0.3.17:6817"),
        ("SlurmctldHost=ip-10-0-3-17\n", "ip-10-0-3-17:6817"),
        ("SlurmctldHost=primary(10.0.3.17)\nSlurmctldHost=backup(10.0.3.18)\n", "10.0.3.17:6817"),
        ("slurmctldhost = primary(10.0.3.17)   # of today\r\n", "10.0.3.17:6817"),
        ("#SlurmctldHost=old(10.0.0.1)\n  SlurmctldHost=new(10.0.0.2)\n", "10.0.0.2:6817"),
        ("SlurmctldHost=primary\nSlurmctldAddr=10.0.3.20\n", "10.0.3.20:6817"),
        ("SlurmctldHost=primary(10.0.3.17)\nSlurmctldPort=7000-7003\n", "10.0.3.17:7000"),
        ("SlurmctldHost=primary(fd00::17)\n", "[fd00::17]:6817"),
    ],
)
def test_the_address_is_the_one_that_slurm_itself_goes_by(tmp_path: Path, conf: str, wanted: str) -> None:
    assert target(Node(tmp_path), conf) == wanted


def test_the_file_is_left_alone_until_the_controller_moves(tmp_path: Path) -> None:
    node = Node(tmp_path)
    target(node, "SlurmctldHost=primary(10.0.3.17)\n")
    file = node.root / OUT.lstrip("/")
    os.utime(file, (1, 1))
    target(node, "SlurmctldHost=primary(10.0.3.17)\nMaxJobCount=5\n")
    assert file.stat().st_mtime == 1
    assert target(node, "SlurmctldHost=primary(10.0.3.99)\n") == "10.0.3.99:6817"
    assert [path.name for path in file.parent.iterdir()] == ["slurm.json"]


@pytest.mark.parametrize("conf", [None, "ClusterName=llama\n", "SlurmctldHost=\n", 'SlurmctldHost=a"b\n'])
def test_without_a_controller_it_fails_and_keeps_what_was_known(tmp_path: Path, conf: str | None) -> None:
    node = Node(tmp_path)
    before = node.file(OUT, "[]\n").read_text()
    if conf is not None:
        node.file(CONF, conf)
    done = node.run("slurm-target")
    assert done.returncode == 1
    assert done.stderr.startswith("slurm-target: ")
    assert node.read(OUT) == before


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Node:
    return Node(tmp_path_factory.mktemp("node"))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40))
@settings(max_examples=25, deadline=None)
def test_whatever_stands_there_the_agent_gets_json_or_nothing(fuzzed: Node, text: str) -> None:
    node = fuzzed
    node.file(CONF, f"SlurmctldHost={text}\n")
    (node.root / OUT.lstrip("/")).unlink(missing_ok=True)
    done = node.run("slurm-target")
    assert done.returncode in (0, 1)
    if done.returncode == 0:
        ((group),) = json.loads(node.read(OUT))
        assert group["targets"][0].endswith(":6817")
