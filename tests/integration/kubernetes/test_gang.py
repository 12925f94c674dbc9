"""The gang of 512 GPUs on a disposable cluster with Kueue: whole or not at all, through a lost node and an edit."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support.kubernetes_server import NODES, Server, given, wait_for
from support.platform_runs import FILE, bundle, edit
from ultracluster import clusterfile
from ultracluster.kubernetes import platform_of
from ultracluster.platform import find_tools
from ultracluster.workloads import kubernetes_jobs

JOB = "train/job-set.yaml"


@cache
def objects() -> list[dict[str, Any]]:
    platform = platform_of(clusterfile.loads(FILE, "c.yaml"))
    text = next(file.text for file in kubernetes_jobs(platform) if file.path == JOB)
    return [item for item in yaml.safe_load_all(text) if item]


@pytest.fixture
def server() -> Iterator[Server]:
    kubeconfig = given()
    assert kubeconfig is not None
    result = Server(find_tools(kubeconfig))
    assert result.apply(bundle()), result.lines
    yield result
    result.delete("jobsets.jobset.x-k8s.io", objects()[0]["metadata"]["name"], "pretrain")


def placed(server: Server) -> set[str]:
    """Nodes of the running pods of the gang."""
    pods = server.cluster.get("pods", "--namespace=pretrain")
    return {pod["spec"]["nodeName"] for pod in pods if pod["status"].get("phase") == "Running"}


def admitted(server: Server) -> bool:
    rows = server.cluster.get("workloads.kueue.x-k8s.io", "--namespace=pretrain")
    return any("admission" in row.get("status", {}) for row in rows)


def status(server: Server) -> dict[str, Any]:
    (job_set,) = server.cluster.get("jobsets.jobset.x-k8s.io", objects()[0]["metadata"]["name"], "--namespace=pretrain")
    result: dict[str, Any] = job_set.get("status", {})
    return result


def test_a_gang_runs_whole_or_not_at_all_and_outlives_a_node(server: Server) -> None:
    server.delete("node", "train-5")
    server.put(*objects())
    wait_for(lambda: bool(server.cluster.get("workloads.kueue.x-k8s.io", "--namespace=pretrain")), 60, "a workload")
    with pytest.raises(AssertionError, match="not within 30 s"):
        wait_for(lambda: admitted(server) or bool(placed(server)), 30, "63 nodes are not enough")

    server.add_nodes([5])
    wait_for(lambda: len(placed(server)) == NODES, 300, "a pod on each of 64 nodes")

    # Edits beside the job change nothing that it uses, or are refused.
    assert server.apply(edit("40 GB/s", "80 GB/s"))
    assert "admitted workloads use it" in server.refused(
        edit("instances: 64}", "instances: 64}, taints: {dedicated: NoSchedule}")
    )
    assert server.apply(edit("    research: {nodes: {train: 16}}\n", ""))
    assert len(placed(server)) == NODES

    server.delete("node", "train-7")
    # No other node can take its place: Kueue evicts the gang as a whole.
    wait_for(lambda: not admitted(server), 300, "the eviction after the loss of a node")
    server.add_nodes([7])
    wait_for(lambda: len(placed(server)) == NODES, 600, "the gang on 64 nodes again")
    assert status(server).get("restartsCountTowardsMax", 0) == 0


def test_a_gang_beside_idle_nodes_restarts_at_no_cost_on_one_of_them(server: Server) -> None:
    job_set, *others = json.loads(json.dumps(objects()))
    job_set["spec"]["replicatedJobs"][0]["template"]["spec"] |= {"completions": 48, "parallelism": 48}
    server.put(job_set, *others)
    wait_for(lambda: len(placed(server)) == 48, 300, "a pod on each of 48 nodes")
    lost = min(placed(server))
    server.delete("node", lost)
    wait_for(lambda: status(server).get("restarts", 0) > 0, 300, "a restart after the loss of a node")
    wait_for(lambda: len(placed(server) - {lost}) == 48, 300, "the gang on 48 other nodes")
    assert status(server).get("restartsCountTowardsMax", 0) == 0
