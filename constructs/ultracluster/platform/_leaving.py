"""Releases that leave the platform: refuse while work needs them, and wait until their controllers have finished.

Controllers keep objects by finalizers, which nothing else removes. After `helm uninstall`, such an object stays for
ever, and so does what it stands for: an instance of Karpenter runs on and costs money.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ultracluster.platform._errors import ApplyError
from ultracluster.platform._existing import few, finished
from ultracluster.platform._objects import PART_OF, Key, key, set_id
from ultracluster.platform._releases import Installed
from ultracluster.platform._tools import Tools

Object = dict[str, Any]
_POLL_SECONDS = 10
_POOL_LABEL = "karpenter.sh/nodepool"
# Pods that other nodes take, or that end with their node.
_SYSTEM = "kube-system"
_WITH_THE_NODE = ("DaemonSet", "Node")
_WAIT = "wait for them or delete them, then apply again"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Controller:
    """Objects that a release keeps by finalizers.

    Args:
        finalizers: Beginnings of its finalizers.
        created: Kinds that people and this library create.
        derived: Kinds that it creates itself.
    """

    finalizers: tuple[str, ...]
    created: tuple[str, ...]
    derived: tuple[str, ...] = ()


# Read in their sources on 2026-11-27.
_CONTROLLERS: Mapping[str, _Controller] = MappingProxyType(
    {
        # https://github.com/kubernetes-sigs/karpenter (v1.14.1), pkg/controllers/nodeclaim/lifecycle/controller.go: the
        # finalizer of a NodeClaim ends its instance. https://github.com/aws/karpenter-provider-aws (v1.14.1),
        # pkg/controllers/nodeclass/controller.go: that of a node class deletes its instance profile after them.
        "karpenter": _Controller(
            finalizers=("karpenter.sh/", "karpenter.k8s.aws/"),
            created=("nodepools.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"),
            derived=("nodeclaims.karpenter.sh",),
        ),
        # https://github.com/kubernetes-sigs/kueue (v0.19.2), pkg/controller/core, tas/topology_controller.go,
        # jobframework/utils.go and jobs/pod/pod_webhook.go. A topology stays until the last flavor has left. The
        # definitions are in the chart's templates, and leave with it.
        "kueue": _Controller(
            finalizers=("kueue.x-k8s.io/",),
            created=tuple(
                f"{kind}.kueue.x-k8s.io"
                for kind in ("clusterqueues", "resourceflavors", "admissionchecks", "topologies")
            ),
            derived=("workloads.kueue.x-k8s.io", "pods"),
        ),
        # https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (commit 2240711), cmd/compute-domain-controller: the
        # finalizer of a domain leaves after its claim template and DaemonSet.
        "nvidia-dra-driver": _Controller(
            finalizers=("resource.nvidia.com/",), created=("computedomains.resource.nvidia.com",)
        ),
    }
)
# Drivers of DRA by release: chart aws-dranet 1.0.0, templates/deviceclass.yaml, and that of NVIDIA (read 2026-11-27).
_DRIVERS = MappingProxyType(
    {"nvidia-dra-driver": {"gpu.nvidia.com", "compute-domain.nvidia.com"}, "aws-dranet": {"dra.net"}}
)
# Names by which pods name their scheduler. https://volcano.sh/en/docs and https://github.com/NVIDIA/KAI-Scheduler
# (read 2026-11-21)
_SCHEDULERS = MappingProxyType({"volcano": "volcano", "kai-scheduler": "kai-scheduler"})
# Phases of a job of Volcano that has ended; one that waits in a queue has no pods. https://github.com/volcano-sh/volcano,
# staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/job.go (v1.15.1, read 2026-11-27)
_ENDED = ("Aborted", "Completed", "Failed", "Terminated")


def release_problems(
    tools: Tools, cluster: str, uninstalled: Iterable[Installed], leaving: Sequence[Key], pods: Sequence[Object]
) -> list[ApplyError]:
    """Return why node pools and releases cannot be removed: work that runs or waits needs them.

    Args:
        tools: kubectl and helm.
        cluster: Name of the EKS cluster.
        uninstalled: Releases that leave.
        leaving: Objects that leave.
        pods: Pods that have not ended.
    """
    names = {row.name for row in uninstalled}
    errors = [*_pool_problems(tools, {item.name for item in leaving if item.kind == "NodePool"}, names, pods)]
    for row in uninstalled:
        errors += _work_problems(tools, row, pods)
        errors += _other_problems(tools, cluster, row)
    return errors


def wait_for_finalizers(
    tools: Tools, uninstalled: Iterable[Installed], *, seconds: float, report: Callable[[str], None]
) -> None:
    """Wait until the controllers of releases have finished their objects, before they are uninstalled.

    Raises:
        ApplyError: If objects are left when the time is over, with their names.
    """
    until = time.monotonic() + seconds
    for row in (row for row in uninstalled if row.name in _CONTROLLERS):
        before: list[str] = []
        while rows := _kept(tools, row.name):
            if rows != before:
                report(f"removal: {row.name} stays until it has finished {few(rows)}")
                before = rows
            if time.monotonic() >= until:
                reason = f"after {seconds:.0f} s, it has not finished {few(rows)}, and nothing else can"
                remedy = "`kubectl describe` shows what keeps them; remove the reason, then apply again"
                raise ApplyError("removal", f"release {row.name}", reason, remedy)
            time.sleep(_POLL_SECONDS)


def _kept(tools: Tools, release: str) -> list[str]:
    """Return the objects that have a finalizer of a release."""
    controller = _CONTROLLERS[release]
    return [
        str(key(item))
        for kind in (*controller.derived, *controller.created)
        for item in tools.get(kind, "--all-namespaces")
        if any(name.startswith(controller.finalizers) for name in item["metadata"].get("finalizers", ()))
    ]


def _pool_problems(
    tools: Tools, pools: Collection[str], uninstalled: Collection[str], pods: Sequence[Object]
) -> Iterator[ApplyError]:
    """Yield an error for each node pool that leaves while pods run on its nodes."""
    if not pools and "karpenter" not in uninstalled:
        return
    nodes: dict[str, set[str]] = {}
    for item in tools.get("nodeclaims.karpenter.sh"):
        pool = item["metadata"].get("labels", {}).get(_POOL_LABEL, "")
        if pool in pools or "karpenter" in uninstalled:
            nodes.setdefault(pool, set()).add(item.get("status", {}).get("nodeName", ""))
    for pool, names in nodes.items():
        running = [
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            for pod in pods
            if pod["spec"].get("nodeName") in names and not _ends_with_its_node(pod)
        ]
        if running:
            reason = f"{len(running)} pods run on its nodes ({few(running)})"
            yield ApplyError("check", f"NodePool {pool}", reason, f"{_WAIT}; or keep the group in the file")


def _ends_with_its_node(pod: Object) -> bool:
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())}
    return pod["metadata"]["namespace"] == _SYSTEM or not owners.isdisjoint(_WITH_THE_NODE)


def _work_problems(tools: Tools, row: Installed, pods: Sequence[Object]) -> Iterator[ApplyError]:
    """Yield why a release cannot leave: jobs that run or wait, and pods with its devices."""
    subject = f"release {row.name}"
    remedy = "wait until they finish, or delete their jobs: another scheduler does not start them again"
    if row.name == "kueue":
        rows = [
            _place(item) for item in tools.get("workloads.kueue.x-k8s.io", "--all-namespaces") if not finished(item)
        ]
        if rows:
            yield ApplyError("check", subject, f"{len(rows)} unfinished workloads use it: {few(rows)}", remedy)
    if row.name == "volcano":
        jobs = tools.get("jobs.batch.volcano.sh", "--all-namespaces")
        rows = [_place(item) for item in jobs if _phase(item) not in _ENDED]
        if rows:
            yield ApplyError("check", subject, f"{len(rows)} unfinished jobs use it: {few(rows)}", remedy)
    if scheduler := _SCHEDULERS.get(row.name):
        rows = [pod["metadata"]["name"] for pod in pods if pod["spec"].get("schedulerName") == scheduler]
        if rows:
            yield ApplyError("check", subject, f"it schedules {len(rows)} running pods ({few(rows)})", remedy)
    if drivers := _DRIVERS.get(row.name):
        rows = [
            _place(item)
            for item in tools.get("resourceclaims", "--all-namespaces")
            # Those of its own pods end with it.
            if item["metadata"]["namespace"] != row.namespace and _claimed(item, drivers)
        ]
        if rows:
            yield ApplyError("check", subject, f"pods use {len(rows)} of its claims ({few(rows)})", _WAIT)


def _phase(job: Object) -> str:
    return str(job.get("status", {}).get("state", {}).get("phase", ""))


def _claimed(claim: Object, drivers: Collection[str]) -> bool:
    status = claim.get("status", {})
    devices = status.get("allocation", {}).get("devices", {}).get("results", ())
    return bool(status.get("reservedFor")) and any(device["driver"] in drivers for device in devices)


def _other_problems(tools: Tools, cluster: str, row: Installed) -> Iterator[ApplyError]:
    """Yield an error for the objects of a release that somebody else created: nothing would remove their finalizers."""
    controller = _CONTROLLERS.get(row.name)
    others = [
        str(key(item))
        for kind in (controller.created if controller else ())
        for item in tools.get(kind, "--all-namespaces")
        if item["metadata"].get("labels", {}).get(PART_OF) != set_id(cluster)
        and "deletionTimestamp" not in item["metadata"]
    ]
    if others:
        reason = f"this library did not create {few(others)}, which cannot be deleted without it"
        yield ApplyError("check", f"release {row.name}", reason, "delete them, then apply again")


def _place(item: Object) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"
