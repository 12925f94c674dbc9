"""Lines of the gate about device plugins, collectors of metrics, and nodes of the system."""

from dataclasses import replace
from typing import Any

import pytest

from support.kubernetes_double import node
from support.platform_runs import Run, bundle
from ultracluster.platform._bundle import Bundle

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
    tainted = run.cluster.objects["Node", "", "ip-10-0-0-7"]
    tainted["spec"]["taints"] = [{"key": "fsx.csi.aws.com/agent-not-ready", "effect": "NoExecute"}]
    of = replace(bundle(), metrics=NAMESPACE)
    assert run.apply(of, allow_unhealthy=True)
    assert any(line.startswith("missing: ip-10-0-0-7") and "fsx-csi-node" in line for line in run.lines)
    assert "missing: ip-10-0-0-100: pod node-metrics-ip-10-0-0-100: its node does not answer" in run.lines
    assert not run.apply(of)


def of_devices(run: Run, name: str, namespace: str, *, release: str | None, updated: int, generation: int = 2) -> None:
    """A DaemonSet on 64 nodes."""
    metadata = {"name": name, "namespace": namespace, "generation": generation}
    if release:
        metadata["annotations"] = {"meta.helm.sh/release-name": release}
    counts = {"desiredNumberScheduled": 64, "updatedNumberScheduled": updated, "observedGeneration": 2}
    template = {"spec": {"containers": [{"image": "plugin"}]}}
    run.put(
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": template}}
        | {"status": counts}
    )


def with_plugins() -> Bundle:
    """The bundle of the double, with releases of devices."""
    of = bundle()
    chart = next(release for release in of.releases if release.chart is not None)
    efa = replace(chart, name="aws-efa-k8s-device-plugin", namespace="kube-system", phase="devices")
    operator = replace(chart, name="gpu-operator", namespace="gpu-operator", phase="devices")
    return replace(of, releases=(*of.releases, efa, operator))


@pytest.mark.parametrize(
    ("name", "namespace", "release", "updated", "generation", "behind"),
    [
        ("efa", "kube-system", "aws-efa-k8s-device-plugin", 63, 2, 1),
        ("efa", "kube-system", "aws-efa-k8s-device-plugin", 64, 3, 64),
        ("efa", "kube-system", "aws-efa-k8s-device-plugin", 64, 2, 0),
        ("aws-node", "kube-system", None, 10, 2, 0),
        ("other", "kube-system", "other", 10, 2, 0),
        ("nvidia-device-plugin-daemonset", "gpu-operator", None, 10, 2, 54),
    ],
)
def test_the_gate_waits_for_the_new_version_of_device_plugins(
    name: str, namespace: str, release: str | None, updated: int, generation: int, behind: int
) -> None:
    """The devices are allocatable by the old version too."""
    run = Run(*(node(index, "train") for index in range(64)))
    of = with_plugins()
    assert run.apply(of)
    of_devices(run, name, namespace, release=release, updated=updated, generation=generation)
    assert run.apply(of, allow_unhealthy=True) is (behind == 0)
    line = f"missing: DaemonSet {namespace}/{name}: {behind} pods have the old version"
    assert (line in run.lines) is (behind > 0)


def test_an_old_pod_of_a_lost_node_fails_no_deployment() -> None:
    run = Run(*(node(index, "train") for index in range(64)))
    of = with_plugins()
    assert run.apply(of)
    of_devices(run, "efa", "kube-system", release="aws-efa-k8s-device-plugin", updated=63)
    lost = run.cluster.objects["Node", "", "ip-10-0-0-5"]
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting"}]
    assert run.apply(of, allow_unhealthy=True)
    assert "gate: efa: 63 of 64 pods have the new version" in run.lines
    assert not run.apply(of)
