"""Node groups of EKS with a Capacity Block, before an update of their nodes and after an end that was extended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from support import ROOT
from support.diff_runs import Diff, differ

BLOCK = (ROOT / "examples" / "eks-capacity-block.yaml").read_text() + "observability: {profile: none}\n"
# The template has nodes while a block runs.
RUNNING = BLOCK.replace("starts: 2026-12-04", "active: true")
NAME = BLOCK.partition("name: ")[2].split()[0]
VOLUME = ("nodes:\n  train:\n", "nodes:\n  train:\n    root-volume: 999 GiB\n")
RESIZE = f"aws eks update-nodegroup-config --cluster-name {NAME} --nodegroup-name train --scaling-config minSize=0,"


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Diff:
    return differ(monkeypatch, tmp_path)


@pytest.fixture
def eks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """EKS with the node group of the block."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client = boto3.client("eks", "us-east-2")
        role = "arn:aws:iam::123456789012:role/eks"
        client.create_cluster(name=NAME, roleArn=role, resourcesVpcConfig={"subnetIds": ["subnet-1", "subnet-2"]})
        size = {"minSize": 0, "maxSize": 16, "desiredSize": 16}
        group = {"clusterName": NAME, "nodegroupName": "train", "nodeRole": role, "subnets": ["subnet-1"]}
        client.create_nodegroup(**group, scalingConfig=size)
        yield client


def scale(eks: Any, count: int) -> None:
    size = {"minSize": 0, "maxSize": 16, "desiredSize": count}
    eks.update_nodegroup_config(clusterName=NAME, nodegroupName="train", scalingConfig=size)


def test_nodes_of_a_block_leave_before_they_are_updated(diff: Diff, eks: Any) -> None:
    refused = diff(RUNNING, RUNNING.replace(*VOLUME), "--json")
    assert refused.exit_code == 1, refused.output
    (line,) = json.loads(refused.stdout)["guard"]["broken"]
    assert line.startswith(f"eks-block-nodes: {NAME}-Compute/trainNodeGroup")
    assert "has 16 nodes in a Capacity Block, and AWS asks for none before an update of them (LaunchTemplate" in line
    assert f"`{RESIZE}desiredSize=0`" in line
    # Labels are changed without an update of the nodes.
    labels = diff(RUNNING, RUNNING.replace("nodes:\n  train:\n", "nodes:\n  train:\n    labels: {a: b}\n"), "--json")
    assert json.loads(labels.stdout)["guard"]["broken"] == []
    scale(eks, 0)
    group = json.loads(refused.stdout)["guard"]["nodes"][0]["name"]
    assert diff(RUNNING, RUNNING.replace(*VOLUME), "--allow", group).exit_code == 0


def test_a_group_that_was_ended_before_its_block_was_extended_stays_empty(diff: Diff, eks: Any) -> None:
    later = RUNNING.replace("ends: 2026-12-18", "ends: 2026-12-25")
    assert "has no nodes" not in diff(RUNNING, later).output
    scale(eks, 0)
    assert f"`{RESIZE}desiredSize=16`" in diff(RUNNING, later).output
    # A block that has not begun has no nodes, and an update that adds nodes starts them.
    assert "has no nodes" not in diff(BLOCK, BLOCK.replace("ends: 2026-12-18", "ends: 2026-12-25")).output
    assert "has no nodes" not in diff(BLOCK, RUNNING).output


def test_nodes_that_cannot_be_read_are_a_warning(diff: Diff, eks: Any) -> None:
    eks.delete_nodegroup(clusterName=NAME, nodegroupName="train")
    unread = diff(RUNNING, RUNNING)
    assert unread.exit_code == 0
    assert "the states of node groups of EKS were not read" in unread.output
