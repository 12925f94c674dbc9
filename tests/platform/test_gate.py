"""Lines of the gate about collectors of metrics, and about nodes of the system."""

from dataclasses import replace
from typing import Any

import pytest

from support.kubernetes_double import node
from support.platform_runs import Run, bundle

#: Without those of the bundle.
NAMESPACE = "collected"
GOOD = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
#: A pod of a node that is lost, as the controller of nodes leaves it: its containers are still those of before.
LOST = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "False"}],
    "containerStatuses": [{"name": "agent", "ready": True}, {"name": "node", "ready": True}],
}


def silent(*containers: str) -> dict[str, Any]:
    rows = [{"name": name, "ready": name not in containers} for name in ("agent", "dcgm", "node")]
    return {**LOST, "containerStatuses": rows}


def collected(bad: str, status: dict[str, Any]) -> Run:
    """A cluster of 64 nodes and two of the system, with a collector on each, of which one is not ready."""
    system = [node(index, "system") for index in (100, 101)]
    nodes = [*(node(index, "train") for index in range(64)), *system]
    run = Run(*nodes)
    run.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for name in (item["metadata"]["name"] for item in nodes):
        metadata = {"name": f"node-metrics-{name}", "namespace": NAMESPACE}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": name}}
        run.put({**pod, "status": status if name == bad else GOOD})
    counts = {"desiredNumberScheduled": len(nodes), "numberReady": len(nodes) - 1}
    metadata = {"name": "node-metrics", "namespace": NAMESPACE}
    template = {"spec": {"containers": [{"image": "prometheus"}]}}
    run.put(
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}}
        | {"status": counts}
    )
    return run


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (silent("agent"), "the workspace accepts none of its metrics, see the log of its container agent"),
        (silent("dcgm"), "dcgm not ready"),
        (silent("agent", "dcgm"), "agent, dcgm not ready"),
        (LOST, "its node does not answer"),
        ({"phase": "Pending"}, "Pending"),
    ],
)
def test_a_collector_that_is_not_ready_is_named_with_its_reason(status: dict[str, Any], reason: str) -> None:
    run = collected("ip-10-0-0-5", status)
    # All nodes are well: what is missing is no unhealthy node, and no deployment passes it over.
    assert not run.apply(replace(bundle(), metrics=NAMESPACE), allow_unhealthy=True)
    assert "gate: metrics: arriving from 65 of 66 collectors" in run.lines
    assert f"missing: ip-10-0-0-5: pod node-metrics-ip-10-0-0-5: {reason}" in run.lines


def test_a_lost_node_of_the_system_fails_no_deployment() -> None:
    run = collected("ip-10-0-0-100", LOST)
    lost = run.cluster.objects["Node", "", "ip-10-0-0-100"]
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting"}]
    of = replace(bundle(), metrics=NAMESPACE)
    assert run.apply(of, allow_unhealthy=True)
    assert "missing: ip-10-0-0-100: pod node-metrics-ip-10-0-0-100: its node does not answer" in run.lines
    assert not run.apply(of)
