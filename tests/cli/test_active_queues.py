"""States of queues and node groups before an update of the cluster of AWS PCS."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from support import ROOT
from support.diff_runs import Diff, differ
from support.rehearsal_tools import REGION, Stacks, local_stacks
from support.service_templates import GROUP
from ultracluster.cli import _deploy
from ultracluster.cli._active_queues import not_active

FILE = (ROOT / "examples" / "slurm-minimal.yaml").read_text()
NAME = FILE.partition("name: ")[2].split()[0]
ID = {"Fn::GetAtt": ["Slurm", "Id"]}
CLUSTER = {
    "Type": "AWS::PCS::Cluster",
    "Properties": {
        "Name": NAME,
        "Size": "SMALL",
        "Scheduler": {"Type": "SLURM", "Version": "25.11"},
        "Networking": {"SubnetIds": GROUP["SubnetIds"], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
    },
}
NODES = {"Name": "train", "ScalingConfiguration": {"MinInstanceCount": 1, "MaxInstanceCount": 1}}
RESOURCES: dict[str, Any] = {
    "Slurm": CLUSTER,
    "Train": {"Type": "AWS::PCS::ComputeNodeGroup", "Properties": {**GROUP, **NODES, "ClusterId": ID}},
    "Queue": {"Type": "AWS::PCS::Queue", "Properties": {"Name": "jobs", "ClusterId": ID}},
}


@pytest.fixture(scope="module")
def stacks() -> Iterator[Stacks]:
    with local_stacks() as running:
        name = running.create(RESOURCES)
        assert running.status(name) == "CREATE_COMPLETE", running.reasons(name)
        yield running


@pytest.fixture
def diff(stacks: Stacks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Diff:
    monkeypatch.setattr(_deploy, "clients_of_command", lambda: lambda service, region: stacks.client(service))
    return differ(monkeypatch, tmp_path)


@pytest.fixture
def failed(stacks: Stacks) -> Iterator[None]:
    """A rollback that could not restore a node group."""
    (stack,) = stacks.cloud.stacks.living()
    stack.stuck = {"Train"}
    yield
    stack.stuck = set()


SETTINGS = FILE + "slurm: {scale-down-idle-time: 20 min}\n"


def test_an_update_of_the_cluster_needs_active_queues_and_node_groups(diff: Diff, failed: None) -> None:
    refused = diff(FILE, SETTINGS, "--json")
    assert refused.exit_code == 1, refused.output
    (line,) = json.loads(refused.stdout)["guard"]["broken"]
    assert line.startswith(f"pcs-not-active: node group train of {NAME} is UPDATE_FAILED")
    # Other updates do not need it.
    other = diff(FILE, FILE.replace("count: 2", "count: 3"), "--json")
    assert json.loads(other.stdout)["guard"]["broken"] == []


def test_an_update_of_a_cluster_whose_groups_are_active_passes(diff: Diff, stacks: Stacks) -> None:
    assert not_active(NAME, lambda service, region: stacks.client(service), REGION) == []
    assert diff(FILE, SETTINGS).exit_code == 0


def test_states_that_cannot_be_read_are_a_warning(diff: Diff, stacks: Stacks, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClientError, match="there is no cluster other"):
        not_active("other", lambda service, region: stacks.client(service), REGION)
    with pytest.raises(ClientError, match="has no ListClusters"):
        stacks.client("pcs").list_clusters()
    monkeypatch.setattr(stacks.cloud.stacks, "living", lambda *_: [])
    unread = diff(FILE, SETTINGS)
    assert unread.exit_code == 0
    assert "the states of queues and node groups were not read" in unread.output
