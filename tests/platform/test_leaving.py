"""Releases that leave the platform: refused while work needs them, and kept until their controllers have finished."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from support import ROOT
from support.platform_runs import FILE, Clock, Run, bundle, edit
from ultracluster.platform import ApplyError, Bundle, Options, _apply, _leaving, apply, plan

BURST = ("nodes:\n", "nodes:\n  burst: {type: p5.4xlarge, count: 6, elastic: true, image: ami-0123456789abcdef0}\n")
SPILL = ("nodes:\n", "nodes:\n  spill: {type: p5.48xlarge, count: 2, elastic: true, image: ami-0123456789abcdef0}\n")
VOLCANO = ("bin-packing: true", "bin-packing: true\n  scheduler: volcano")
DOMAIN = (
    (ROOT / "examples" / "eks-gb200.yaml")
    .read_text()
    .replace("nodes:\n", "nodes:\n  cpu: {type: m7g.4xlarge, count: 2}\n")
)
NO_DOMAIN = DOMAIN[: DOMAIN.index("  train:")] + DOMAIN[DOMAIN.index("network:") :]
SECONDS = 600


def without_gate(of: Bundle) -> Bundle:
    return replace(of, groups=())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    for module in (_apply, _leaving):
        monkeypatch.setattr(module, "time", result)
    return result


def node_claim(name: str = "burst-x1", pool: str = "burst") -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": pool}},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": pool}},
        "status": {"nodeName": f"ip-{name}", "providerID": "aws:///use2-az1/i-0123456789abcdef0"},
    }


def pod(name: str, namespace: str = "research", owner: str = "Job", node: str = "ip-burst-x1") -> dict[str, Any]:
    owners = [{"apiVersion": "v1", "kind": owner, "name": "owner", "uid": "1"}]
    metadata = {"name": name, "namespace": namespace, "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}}


def workload(name: str, **status: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "research"}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": metadata, "status": status}


def finished(name: str) -> dict[str, Any]:
    return workload(name, conditions=[{"type": "Finished", "status": "True"}])


def started(*edits: tuple[str, str], text: str = FILE) -> Run:
    run = Run()
    for old, new in edits:
        text = text.replace(old, new)
    run.apply(without_gate(bundle(text)))
    run.cluster.reconcile()
    return run


def finish_slowly(run: Run, clock: Clock, *, after: float) -> None:
    """Start the controllers once some seconds have passed."""
    object.__setattr__(run.cluster, "env", {**run.cluster.state, "slow": True})
    clock.then = lambda: run.cluster.reconcile() if clock.now >= after else None


def end(run: Run, of: Bundle) -> list[str]:
    """Apply with time to wait, and return the lines about the removal."""
    run.lines.clear()
    apply(run.cluster, without_gate(of), Options(seconds=SECONDS, report=run.lines.append))
    return [line for line in run.lines if line.startswith("removal: ")]


def test_the_nodes_of_karpenter_end_before_it_leaves(clock: Clock) -> None:
    run = started(BURST)
    run.put(node_claim())
    run.cluster.reconcile()
    finish_slowly(run, clock, after=60)
    assert end(run, bundle()) == [
        "removal: karpenter stays until it has finished NodeClaim burst-x1, EC2NodeClass burst",
        "removal: karpenter",
    ]
    assert 60 <= clock.now < SECONDS
    assert not run.cluster.names("NodeClaim") | run.cluster.names("EC2NodeClass")


def test_karpenter_stays_while_it_cannot_end_its_instances(clock: Clock) -> None:
    run = started(BURST)
    run.put(node_claim())
    run.cluster.reconcile()
    run.cluster.state["denied"].add("NodeClaim")
    with pytest.raises(ApplyError) as error:
        end(run, bundle())
    assert "removal: release karpenter: after 600 s, it has not finished NodeClaim burst-x1" in str(error.value)
    assert "karpenter" in run.cluster.state["releases"]
    run.cluster.state["denied"].clear()
    assert end(run, bundle()) == ["removal: karpenter"]


def test_a_node_pool_stays_while_pods_run_on_its_nodes() -> None:
    run = started(BURST, SPILL)
    run.put(node_claim())
    run.put(node_claim("spill-x1", "spill"))
    for system in (
        pod("plugin", "kube-system", "DaemonSet"),
        pod("collector", "metrics", "DaemonSet"),
        pod("static", "a", "Node"),
    ):
        run.put(system)
    run.put(pod("other", node="ip-spill-x1"))
    run.put(pod("vllm-0"))
    without_burst = edit(*SPILL)
    assert "check: NodePool burst: 1 pods run on its nodes (research/vllm-0)" in run.refused(without_burst)
    both = run.refused(bundle())
    assert "NodePool burst: 1 pods run on its nodes (research/vllm-0)" in both
    assert "NodePool spill: 1 pods run on its nodes (research/other)" in both
    run.delete("pod", "vllm-0", "research")
    assert run.apply(without_burst)
    assert run.cluster.names("NodeClaim") == {"spill-x1"}
    assert "karpenter" in run.cluster.state["releases"]


def test_another_scheduler_waits_for_jobs_that_wait() -> None:
    run = started()
    run.put(workload("waits"))
    run.put(finished("ended"))
    text = run.refused(edit(*VOLCANO))
    assert "release kueue: 1 unfinished workloads use it: research/waits" in text
    assert "remedy: wait until they finish, or delete their jobs" in text
    with pytest.raises(ApplyError, match="research/waits"):
        plan(run.cluster, edit(*VOLCANO), Options(seconds=0))
    run.put(finished("waits"))
    run.cluster.reconcile()
    run.apply(edit(*VOLCANO))
    assert "kueue" not in run.cluster.state["releases"]


def test_kueue_stays_until_its_queues_and_flavors_are_gone(clock: Clock) -> None:
    run = started()
    finish_slowly(run, clock, after=20)
    first, last = end(run, edit(*VOLCANO))
    assert first.startswith("removal: kueue stays until it has finished ClusterQueue ")
    assert last == "removal: kueue"


def test_kueue_stays_until_its_topologies_are_gone(clock: Clock) -> None:
    run = started()
    run.cluster.state["denied"].add("Topology")
    with pytest.raises(ApplyError, match="it has not finished Topology network-3"):
        end(run, edit(*VOLCANO))
    assert "kueue" in run.cluster.state["releases"]


def test_a_job_of_volcano_that_waits_keeps_volcano() -> None:
    run = started(VOLCANO)
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "job-a", "namespace": "research"},
    }
    run.put({**job, "spec": {}, "status": {"state": {"phase": "Pending"}}})
    assert "release volcano: 1 unfinished jobs use it: research/job-a" in run.refused(bundle())
    run.put({**job, "spec": {}, "status": {"state": {"phase": "Completed"}}})
    run.apply(bundle())
    assert "volcano" not in run.cluster.state["releases"]


def test_compute_domains_end_before_their_driver_leaves(clock: Clock) -> None:
    run = started(text=DOMAIN)
    assert run.cluster.names("ComputeDomain") == {"domain-train"}
    finish_slowly(run, clock, after=30)
    lines = end(run, bundle(NO_DOMAIN))
    assert lines[0].startswith("removal: nvidia-dra-driver stays until it has finished ComputeDomain ")
    assert lines[-1] == "removal: nvidia-dra-driver"
    templates = {key for key in run.cluster.objects if key[0] == "ResourceClaimTemplate"}
    assert not templates


def claim(driver: str, namespace: str = "research", **status: Any) -> dict[str, Any]:
    results = [{"device": "channel-0", "driver": driver, "pool": "node", "request": "channel"}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gang-0-channel", "namespace": namespace},
        "spec": {},
        "status": {"allocation": {"devices": {"results": results}}, **status},
    }


@pytest.mark.parametrize(
    ("item", "refused"),
    [
        (claim("compute-domain.nvidia.com", reservedFor=[{"name": "gang-0"}]), True),
        (claim("compute-domain.nvidia.com"), False),
        (claim("compute-domain.nvidia.com", "nvidia-dra-driver", reservedFor=[{"name": "daemon"}]), False),
        (claim("other.example.com", reservedFor=[{"name": "gang-0"}]), False),
    ],
)
def test_a_driver_stays_while_pods_use_its_claims(item: dict[str, Any], refused: bool) -> None:
    run = started(text=DOMAIN)
    run.put(item)
    if refused:
        reason = "release nvidia-dra-driver: pods use 1 of its claims (research/gang-0-channel)"
        assert reason in run.refused(bundle(NO_DOMAIN))
    else:
        run.apply(bundle(NO_DOMAIN))
        assert "nvidia-dra-driver" not in run.cluster.state["releases"]


@pytest.mark.parametrize(
    ("before", "after", "item", "reason"),
    [
        (
            (BURST,),
            bundle,
            {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "mine"}, "spec": {}},
            "release karpenter: this library did not create NodePool mine",
        ),
        (
            (),
            lambda: edit(*VOLCANO),
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "mine"}, "spec": {}},
            "release kueue: this library did not create ClusterQueue mine",
        ),
    ],
)
def test_objects_of_others_keep_their_controller(
    before: tuple[tuple[str, str], ...], after: Callable[[], Bundle], item: dict[str, Any], reason: str
) -> None:
    run = started(*before)
    run.put(item)
    assert reason in run.refused(after())
    run.delete(item["kind"].lower(), "mine", "")
    run.apply(after())
    assert reason.split(":")[0].removeprefix("release ") not in run.cluster.state["releases"]
