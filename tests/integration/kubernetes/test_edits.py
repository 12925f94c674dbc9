"""Edits of a cluster file: each ends in the state of the file, or is refused, on a double and on a real API server."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # no stubs

from support.kubernetes_double import Cluster
from support.kubernetes_server import NODES, Server, given, wait_for
from support.platform_runs import FILE, Run, bundle, edit
from ultracluster import clusterfile
from ultracluster.kubernetes import platform_of
from ultracluster.platform import find_tools
from ultracluster.workloads import kubernetes_jobs

TAINTED = ("instances: 64}", "instances: 64}, taints: {dedicated: NoSchedule}")
VOLCANO = ("bin-packing: true", "bin-packing: true\n  scheduler: volcano")
# A release before the pinned one, which exists: https://github.com/NVIDIA/aicr/pull/2500 (read 2026-11-24)
OLDER = ("bin-packing: true", "bin-packing: true\n  charts: {lws: 0.8.0}")
CAPACITY = "capacity: {reservation: cr-0123456789abcdef0, kind: odcr, instances: 64}}"
KINDS = (
    *("persistentvolumes", "persistentvolumeclaims", "resourceflavors.kueue.x-k8s.io"),
    *("clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io"),
)


@cache
def server() -> Server:
    kubeconfig = given()
    assert kubeconfig is not None
    return Server(find_tools(kubeconfig))


@pytest.fixture(params=["double", "server"] if given() else ["double"])
def run(request: pytest.FixtureRequest) -> Run | Server:
    """A cluster in the state of the file, whatever the test before has left."""
    result: Run | Server = server() if request.param == "server" else Run()
    assert result.apply(bundle()), result.lines
    return result


def names(run: Run | Server, kind: str) -> set[str]:
    return {item["metadata"]["name"] for item in run.cluster.get(kind, "--all-namespaces")}


def releases(run: Run | Server) -> dict[str, str]:
    """Charts by the names of their releases."""
    rows = json.loads(run.cluster.run("helm", "list", "--all-namespaces", "--output=json"))
    return {row["name"]: row["chart"] for row in rows}


def state(run: Run | Server) -> list[Any]:
    """Identity and specification of each object, without its status and what controllers write."""
    return [
        (kind, item["metadata"]["name"], item["metadata"].get("uid"), item["spec"])
        for kind in KINDS
        for item in run.cluster.get(kind, "--all-namespaces")
    ]


def test_the_gate_counts_512_gpus_and_a_second_apply_changes_nothing(run: Run | Server) -> None:
    before = state(run)
    assert run.apply(bundle())
    assert sum(line.endswith("unchanged") for line in run.lines) == 6
    assert state(run) == before
    assert (
        "gate: train: 64 of 64 nodes ready, 512 of 512 GPUs allocatable, 1,024 of 1,024 EFA devices allocatable"
        in run.lines
    )


def test_growing_lustre_changes_no_object(run: Run | Server) -> None:
    before = state(run)
    assert run.apply(edit("40 GB/s", "80 GB/s"))
    assert state(run) == before


def test_a_new_taint_moves_the_queues_to_a_new_flavor(run: Run | Server) -> None:
    (before,) = names(run, "resourceflavors.kueue.x-k8s.io")
    assert run.apply(edit(*TAINTED))
    (after,) = names(run, "resourceflavors.kueue.x-k8s.io")
    assert before != after
    (queue,) = run.cluster.get("clusterqueues.kueue.x-k8s.io", "pretrain")
    assert queue["spec"]["resourceGroups"][0]["flavors"][0]["name"] == after


def test_a_removed_team_loses_its_quota_unless_it_has_claims(run: Run | Server) -> None:
    after = edit("    research: {nodes: {train: 16}}\n", "")
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": "theirs", "namespace": "research"}
    run.put({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
    assert "claims that this library did not create (theirs)" in run.refused(after)
    run.delete("persistentvolumeclaim", "theirs", "research")
    assert run.apply(after)
    assert names(run, "clusterqueues.kueue.x-k8s.io") == {"pretrain", "node-health"}
    wait_for(lambda: "research" not in names(run, "namespaces"), 120, "the end of the namespace")


def test_another_scheduler_replaces_the_first_one(run: Run | Server) -> None:
    assert run.apply(edit(*VOLCANO))
    assert not names(run, "clusterqueues.kueue.x-k8s.io")
    assert "kueue" not in releases(run)
    assert "pretrain" in names(run, "queues.scheduling.volcano.sh")


def test_another_chart_version_updates_its_release_alone(run: Run | Server) -> None:
    pinned = releases(run)
    assert run.apply(edit(*OLDER))
    assert releases(run) == {**pinned, "lws": "lws-0.8.0"}
    assert run.apply(bundle())
    assert releases(run) == pinned


def test_a_renamed_group_replaces_its_flavor_and_runtime(run: Run | Server) -> None:
    text = FILE.replace("  train: {type", "  large: {type").replace("{train:", "{large:")
    # Its nodes are those of the next deployment.
    assert run.apply(replace(bundle(text), groups=()))
    assert names(run, "clustertrainingruntimes.trainer.kubeflow.org") == {"torch-large"}
    assert {name.rpartition("-")[0] for name in names(run, "resourceflavors.kueue.x-k8s.io")} == {"large"}


def test_two_groups_of_a_team_have_jobs_of_their_own(run: Run | Server) -> None:
    text = FILE.replace("{train: 48}", "{train: 32, more: 16}").replace("count: 64", "count: 48")
    text = text.replace(CAPACITY, f"{CAPACITY}\n  more: {{type: p5en.48xlarge, count: 16, {CAPACITY}")
    assert run.apply(replace(bundle(text), groups=()))
    assert names(run, "clustertrainingruntimes.trainer.kubeflow.org") == {"torch-train", "torch-more"}
    files = kubernetes_jobs(platform_of(clusterfile.loads(text, "c.yaml")))
    gangs = [file for file in files if file.path.endswith(("/train-job.yaml", "/job-set.yaml"))]
    jobs = [item for file in gangs for item in yaml.safe_load_all(file.text) if item]
    items = json.dumps({"apiVersion": "v1", "kind": "List", "items": jobs})
    run.cluster.run("kubectl", "apply", "--server-side", "--filename=-", stdin=items)
    assert names(run, "trainjobs.trainer.kubeflow.org") == {"pretrain-train", "pretrain-more"}
    assert names(run, "jobsets.jobset.x-k8s.io") >= {"pretrain-jobset-train", "pretrain-jobset-more"}
    for item in jobs:
        run.delete(item["kind"].lower(), item["metadata"]["name"], "pretrain")


def test_a_cluster_with_other_nodes_is_refused() -> None:
    with pytest.raises(AssertionError, match="the cluster is in use, it has the nodes ip-10-0-0-0"):
        Server(Run().cluster)


def test_simulated_nodes_are_valid_and_hold_the_gang() -> None:
    cluster = Cluster()
    Server(cluster)
    nodes = cluster.get("nodes")
    assert len(nodes) == NODES
    blocks = {node["metadata"]["labels"]["topology.k8s.aws/network-node-layer-3"] for node in nodes}
    assert len(blocks) == 4
    assert sum(int(node["status"]["allocatable"]["nvidia.com/gpu"]) for node in nodes) == 512
