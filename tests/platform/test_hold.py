"""Queues that are held while nodes are updated."""

from typing import Any

import pytest

from support.kubernetes_double import node
from support.platform_runs import Run, bundle, edit
from ultracluster.platform import ApplyError, Options, apply, hold_queues
from ultracluster.platform._hold import hold, resume


@pytest.fixture
def run() -> Run:
    result = Run()
    assert result.apply(bundle())
    return result


def policies(run: Run) -> set[str]:
    queues = (run.cluster.objects["ClusterQueue", "", name] for name in run.cluster.names("ClusterQueue"))
    return {item["spec"].get("stopPolicy", "None") for item in queues}


def workload(**status: Any) -> dict[str, Any]:
    metadata = {"name": "job-a", "namespace": "pretrain"}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": metadata, "status": status}


@pytest.mark.parametrize(("how", "policy"), [("drain", "HoldAndDrain"), ("wait", "Hold")])
def test_held_queues_go_on_when_the_nodes_are_back(run: Run, how: Any, policy: str) -> None:
    hold_queues(run.cluster, bundle(), how, Options(seconds=0, report=run.lines.append))
    assert policies(run) == {policy}
    assert "no workload has nodes; deploy, then apply" in run.lines[-1]
    # The update: some nodes have not joined yet.
    removed = [run.cluster.objects.pop(("Node", "", f"ip-10-0-0-{index}")) for index in range(4)]
    run.lines.clear()
    assert not apply(run.cluster, bundle(), Options(seconds=0, report=run.lines.append))
    assert policies(run) == {policy}
    assert run.lines[-1].startswith("queues: node-health, pretrain, research are still held: run `ultracluster apply")
    for item in removed:
        run.cluster.put(item)
    assert apply(run.cluster, bundle(), Options(seconds=0, report=run.lines.append))
    assert policies(run) == {"None"}
    assert "queues: node-health, pretrain, research go on" in run.lines
    assert run.lines[-3].startswith("gate: queues: 3 of 3 active")


def test_a_few_unhealthy_nodes_do_not_keep_the_queues_of_all_teams_held(run: Run) -> None:
    hold_queues(run.cluster, bundle(), "drain", Options(seconds=0))
    del run.cluster.objects["Node", "", "ip-10-0-0-5"]
    run.lines.clear()
    assert not apply(run.cluster, bundle(), Options(seconds=0, report=run.lines.append))
    assert policies(run) == {"None"}
    assert "missing: 1 of 64 nodes have not joined" in run.lines


def test_a_hold_names_the_workloads_that_still_have_nodes(run: Run) -> None:
    run.cluster.put(workload(admission={"clusterQueue": "pretrain", "podSetAssignments": []}))
    with pytest.raises(ApplyError, match="hold: queues: 1 workloads still have nodes: pretrain/job-a"):
        hold_queues(run.cluster, bundle(), "wait", Options(seconds=0))
    run.cluster.put(workload())
    hold_queues(run.cluster, bundle(), "wait", Options(seconds=0, report=run.lines.append))


def test_a_queue_that_somebody_stopped_remains_stopped(run: Run) -> None:
    run.cluster.objects["ClusterQueue", "", "research"]["spec"]["stopPolicy"] = "Hold"
    # The second time after an error of the first one.
    for _ in range(2):
        names = hold(run.cluster, bundle(), "drain", seconds=0)
        assert policies(run) == {"HoldAndDrain"}
    assert resume(run.cluster, bundle()) == names
    stopped = {name: run.cluster.objects["ClusterQueue", "", name]["spec"]["stopPolicy"] for name in names}
    assert stopped == {"node-health": "None", "pretrain": "None", "research": "Hold"}


def test_queues_of_new_teams_are_left_out_and_those_of_removed_teams_are_held(run: Run) -> None:
    queue = run.cluster.objects.pop(("ClusterQueue", "", "research"))
    run.cluster.objects["ClusterQueue", "", "removed"] = {**queue, "metadata": {**queue["metadata"], "name": "removed"}}
    other = {**queue, "metadata": {"name": "of-somebody-else"}, "spec": dict(queue["spec"])}
    run.cluster.objects["ClusterQueue", "", "of-somebody-else"] = other
    assert hold(run.cluster, bundle(), "drain", seconds=0) == ["node-health", "pretrain", "removed"]
    assert other["spec"].get("stopPolicy", "None") == "None"


def test_other_schedulers_are_not_held() -> None:
    volcano = edit("bin-packing: true", "bin-packing: true\n  scheduler: volcano")
    run = Run(*(node(index, "train") for index in range(64)))
    with pytest.raises(ApplyError, match="scheduler is volcano, and only Kueue's are held"):
        hold_queues(run.cluster, volcano, "drain", Options(seconds=0))
