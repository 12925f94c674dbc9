"""`main`, the program of an app: where it reads the context, and what it imports for a bad cluster file."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support import ROOT
from ultracluster import clusterfile
from ultracluster.planning.capacity import CapacityBlock, starts_at, stops_at, waits, waits_for_command
from ultracluster.stacks import main

APP = """
import sys
from ultracluster.stacks import main
try:
    main("cluster.yaml")
finally:
    print(*sorted({"aws_cdk", "jsii", "pydantic"} & set(sys.modules)))
"""


def test_a_bad_cluster_file_is_refused_before_the_cdk_is_imported(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("name: x\n")
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {name: value for name, value in os.environ.items() if name != "CDK_CONTEXT_JSON"}
    environment["PYTHONPATH"] = path
    done = subprocess.run([sys.executable, "-c", APP], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cluster.yaml:1:7 name: " in done.stderr
    assert done.stdout.split() == ["pydantic"]


def test_context_comes_from_where_the_app_of_the_cdk_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps({"cluster": "variable.yaml"}))
    with pytest.raises(SystemExit, match=r"^variable\.yaml"):
        main("argument.yaml")
    # The CDK CLI writes a context to a file that is too long for a variable.
    (tmp_path / "context.json").write_text(json.dumps({"cluster": "overflow.yaml"}))
    monkeypatch.setenv("CONTEXT_OVERFLOW_LOCATION_ENV", str(tmp_path / "context.json"))
    with pytest.raises(SystemExit, match=r"^overflow\.yaml"):
        main("argument.yaml")
    program = "import aws_cdk; print(aws_cdk.App().node.try_get_context('cluster'))"
    read = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert read.stdout.strip() == "overflow.yaml"


def test_an_app_without_a_cluster_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)
    with pytest.raises(SystemExit, match=r"name a cluster file: -c cluster=FILE"):
        main()


BLOCK = (ROOT / "examples" / "eks-capacity-block.yaml").read_text()


@pytest.mark.parametrize(
    ("now", "active", "starts"),
    [
        ("2026-12-04T11:29", False, True),
        ("2026-12-04T11:30", True, False),
        ("2026-12-18T10:49", True, False),
        # EKS scales the group to zero 40 minutes before the end.
        ("2026-12-18T10:50", False, False),
    ],
)
def test_an_app_reads_the_clock_for_blocks_that_have_begun(now: str, active: bool, starts: bool) -> None:
    cluster = clusterfile.as_of(clusterfile.loads(BLOCK, "c.yaml"), datetime.fromisoformat(f"{now}Z"))
    (group,) = cluster.node_groups
    assert isinstance(group.capacity, CapacityBlock)
    assert (group.capacity.active, starts_at(group.capacity) is not None) == (active, starts)
    assert waits(group.capacity) != active
    # Nobody is asked to start nodes of a block that starts by itself, or has ended.
    assert not waits_for_command(group.capacity)


def test_an_app_reads_the_clock_for_a_reservation_that_has_begun() -> None:
    block = "kind: capacity-block, instances: 16, starts: 2026-12-04, ends: 2026-12-18"
    file = clusterfile.loads(BLOCK.replace(block, "kind: odcr, starts: 2026-12-04"), "c.yaml")
    for now, begun in (("2026-12-04T11:29", False), ("2026-12-04T11:30", True), ("2027-12-04T11:30", True)):
        (group,) = clusterfile.as_of(file, datetime.fromisoformat(f"{now}Z")).node_groups
        assert (waits(group.capacity), starts_at(group.capacity) is None) == (not begun, begun)
        assert not waits_for_command(group.capacity)


@pytest.mark.parametrize("begun", ["active: true", "starts: 2026-12-04, active: true"])
def test_a_block_that_has_ended_has_no_nodes_whatever_the_file_has(begun: str) -> None:
    file = clusterfile.loads(BLOCK.replace("starts: 2026-12-04", begun), "c.yaml")
    for now, nodes in (("2026-12-18T10:49", True), ("2026-12-18T10:50", False)):
        (group,) = clusterfile.as_of(file, datetime.fromisoformat(f"{now}Z")).node_groups
        assert waits(group.capacity) != nodes
        assert not waits_for_command(group.capacity)
        assert starts_at(group.capacity) is None


def test_an_ultraserver_has_no_nodes_from_the_time_of_its_schedule() -> None:
    text = (ROOT / "examples" / "eks-gb200.yaml").read_text()
    assert "starts: 2026-12-04, " in text
    file = clusterfile.loads(text.replace("starts: 2026-12-04, ", ""), "c.yaml")
    for now, stop in (("2026-12-18T09:59", datetime(2026, 12, 18, 10, tzinfo=UTC)), ("2026-12-18T10:00", None)):
        (group,) = clusterfile.as_of(file, datetime.fromisoformat(f"{now}Z")).node_groups
        assert stops_at(group.capacity) == stop
        assert waits_for_command(group.capacity) == (stop is not None)


def test_the_clock_changes_no_file_without_a_start() -> None:
    for text in (BLOCK.replace(" starts: 2026-12-04,", ""), (ROOT / "examples" / "eks-512-gpus.yaml").read_text()):
        cluster = clusterfile.loads(text, "c.yaml")
        assert clusterfile.as_of(cluster, datetime(2026, 12, 10, tzinfo=UTC)) is cluster
