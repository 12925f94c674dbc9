"""Nodes of HyperPod that an update of their cluster ends, or that are under test, before the update."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.sagemaker.models import sagemaker_backends

from support.diff_runs import Diff, differ
from support.templates import ACCOUNT

FILE = """\
name: lyra
region: us-east-2
zone: use2-az1
orchestrator: hyperpod-kubernetes
kubernetes: {admins: ["arn:aws:iam::123456789012:role/platform"]}
nodes:
  train: {type: p5.48xlarge, count: 2}
  serve: {type: g5.xlarge, count: 8, elastic: true}
"""
MORE = FILE.replace("count: 2}", "count: 3}")


@pytest.fixture
def diff(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Diff:
    return differ(monkeypatch, tmp_path)


def create(**counts: int) -> None:
    """A cluster of HyperPod with as many nodes."""
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": "ml.g5.xlarge",
            "InstanceCount": count,
            "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-lyra", "OnCreate": "on_create.sh"},
            "ExecutionRole": "arn:aws:iam::123456789012:role/hyperpod",
            "ThreadsPerCore": 1,
        }
        for name, count in counts.items()
    ]
    boto3.client("sagemaker", "us-east-2").create_cluster(ClusterName="lyra", InstanceGroups=groups)


@pytest.fixture(autouse=True)
def sagemaker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield


def causes(done: Any) -> dict[str, str]:
    (cluster,) = (row for row in json.loads(done.stdout)["guard"]["nodes"] if row["type"] == "AWS::SageMaker::Cluster")
    return {cause["property"]: cause["reason"] for cause in cluster["causes"] if cause["fate"] == "fewer nodes"}


def test_nodes_that_karpenter_launched_are_not_ended_by_another_edit(diff: Diff) -> None:
    create(train=2, serve=5)
    refused = diff(FILE, MORE, "--json")
    assert refused.exit_code == 1, refused.output
    assert causes(refused)["InstanceGroups.serve"].startswith("from 5 to 0 nodes: an update sends the number")
    assert "InstanceGroups.train" not in causes(refused)
    (name,) = (row["name"] for row in json.loads(refused.stdout)["guard"]["nodes"])
    for word in (name, name.rpartition("/")[2]):
        assert diff(FILE, MORE, "--allow", word).exit_code == 0
    assert "the old template has no such resource" in diff(FILE, MORE, "--allow", name, "--allow", "Other").output


def test_an_update_of_other_resources_ends_none_of_them(diff: Diff) -> None:
    create(train=2, serve=5)
    topic = FILE + "observability: {alerts: {email: ops@example.com}}\n"
    done = diff(FILE, topic, "--json")
    assert done.exit_code == 0, done.output


def test_a_group_that_an_edit_shrinks_is_named_once(diff: Diff) -> None:
    create(train=4, serve=0)
    assert [*causes(diff(FILE, FILE.replace("count: 2}", "count: 1}"), "--json"))] == ["InstanceGroups.train"]
    # A command has added two.
    assert causes(diff(FILE, MORE, "--json"))["InstanceGroups.train"].startswith("from 4 to 3 nodes")


def test_a_cluster_whose_nodes_are_tested_is_updated_later(diff: Diff) -> None:
    create(train=2, serve=0)
    assert diff(FILE, MORE).exit_code == 0
    node, _ = sagemaker_backends[ACCOUNT]["us-east-2"].clusters["lyra"].nodes.values()
    node.status = "DeepHealthCheckInProgress"
    refused = diff(FILE, MORE, "--json")
    assert refused.exit_code == 1
    (line,) = json.loads(refused.stdout)["guard"]["broken"]
    assert line.startswith("hyperpod-deep-checks: deep health checks of 1 node of lyra run")


def test_nodes_that_cannot_be_read_are_a_warning(diff: Diff) -> None:
    unread = diff(FILE, MORE)
    assert unread.exit_code == 0
    assert "the states of instance groups of HyperPod were not read" in unread.output
