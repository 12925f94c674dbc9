"""Validate an edit against what the cluster has, before anything is changed."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster.platform._bundle import Bundle, Release
from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._objects import Key, key
from ultracluster.platform._releases import Installed
from ultracluster.platform._tools import Tools

Object = dict[str, Any]


def check_permissions(tools: Tools) -> None:
    """Reject a principal that may not administer the cluster.

    Raises:
        ApplyError: If it may not, or the API server does not answer.
    """
    try:
        answer = tools.run("kubectl", "auth", "can-i", "*", "*", "--all-namespaces", codes=(0, 1), timeout=60)
        if not answer.strip():
            # kubectl ends with 1 for "no" and without an answer: only the error of another call has the reason.
            tools.run("kubectl", "get", "--raw=/version", timeout=60)
    except ToolError as error:
        remedy = "check the path to the API server: from its VPC, by a tunnel (--through), or by public access"
        raise ApplyError("connect", "API server", str(error), remedy) from None
    if answer.strip() != "yes":
        remedy = "use a principal that `kubernetes.admins` of the cluster file names, or pass its role with --role"
        raise ApplyError("connect", "API server", "this principal is not an administrator of the cluster", remedy)


def foreign(
    tools: Tools, releases: Iterable[Release], installed: Sequence[Installed], *, adopt: Collection[str]
) -> list[ApplyError]:
    """Return an error for each release that somebody else installed already.

    The same release with the same chart version is adopted, and so is what has the namespace of a release that the
    caller names.
    """
    errors = []
    pods = _controllers(tools)
    for release in releases:
        same = next((row for row in installed if (row.name, row.namespace) == (release.name, release.namespace)), None)
        if same is not None and same.fingerprint is None and release.name not in adopt:
            number = same.chart.rpartition("-")[2]
            if same.status.startswith("pending"):
                errors.append(_refused(release, f"a Helm operation ({same.status})"))
                continue
            if number.lstrip("v") != release.version.lstrip("v"):
                errors.append(_refused(release, f"Helm release with chart {same.chart}"))
                continue
        others = [pod for pod in pods if _is(release, pod)]
        if release.name in adopt:
            # Helm takes over what has the names of its own objects; elsewhere there are none.
            others = [pod for pod in others if pod.namespace != release.namespace]
        if others:
            errors.append(_refused(release, others[0].text))
    return errors


def _is(release: Release, pod: "_Controller") -> bool:
    # A manifest without a chart is applied again: it has one place, and no release to compare with.
    same_release = pod.namespace == release.namespace and (release.manifest is not None or pod.release == release.name)
    return not same_release and any(release.image in image for image in pod.images)


def _refused(release: Release, other: str) -> ApplyError:
    remedy = (
        f"keep it with --skip {release.name}, remove it, or, in namespace {release.namespace} alone, replace it with "
        f"--adopt {release.name}; charts.{release.name} of the cluster file sets the version"
    )
    return ApplyError("check", f"release {release.name} {release.version}", f"the cluster has {other}", remedy)


@dataclass(frozen=True, slots=True)
class _Controller:
    """Deployment or DaemonSet."""

    namespace: str
    text: str
    images: list[str]
    #: Helm release that it belongs to, or None.
    release: str | None


def _controllers(tools: Tools) -> list[_Controller]:
    rows = []
    for kind in ("deployments", "daemonsets"):
        for item in tools.get(kind, "--all-namespaces"):
            metadata = item["metadata"]
            images = [container["image"] for container in item["spec"]["template"]["spec"]["containers"]]
            text = f"{item['kind']} {metadata['namespace']}/{metadata['name']} with {images[0]}"
            owner = metadata.get("annotations", {}).get("meta.helm.sh/release-name")
            rows.append(_Controller(metadata["namespace"], text, images, owner))
    return rows


def terminating(tools: Tools, bundle: Bundle) -> list[ApplyError]:
    """Return an error for each namespace of the bundle that is being deleted: nothing can be created in it."""
    desired = {item["metadata"]["name"] for item in bundle.objects if item["kind"] == "Namespace"}
    remedy = "wait until it is deleted; `kubectl get namespace NAME --output yaml` shows what keeps it"
    errors = []
    for item in tools.get("namespaces"):
        if item["metadata"]["name"] in desired and "deletionTimestamp" in item["metadata"]:
            # Such as an API of a controller that does not answer: the namespace stays until it does.
            kept = [row["message"] for row in item.get("status", {}).get("conditions", ()) if row["status"] == "True"]
            reason = ": ".join(["an earlier apply deletes it", *kept])
            errors.append(ApplyError("check", f"Namespace {item['metadata']['name']}", reason, remedy))
    return errors


def removed(bundle: Bundle, present: Iterable[Object]) -> list[Key]:
    """Return the objects of the set that the file no longer has."""
    desired = {key(item) for item in bundle.objects}
    return [item for item in map(key, present) if item not in desired]


def removal_problems(tools: Tools, leaving: Sequence[Key], pods: Sequence[Object]) -> list[ApplyError]:
    """Return why objects cannot be removed: running work uses them.

    Args:
        tools: kubectl and helm.
        leaving: Objects that leave. Those of a release that leaves too are checked with it.
        pods: Pods that have not ended.
    """
    errors = []
    for namespace in (item.name for item in leaving if item.kind == "Namespace"):
        names = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["namespace"] == namespace]
        claims = {item.name for item in leaving if item.kind == "PersistentVolumeClaim" and item.namespace == namespace}
        kept = [
            item["metadata"]["name"]
            for item in tools.get("persistentvolumeclaims", f"--namespace={namespace}")
            if item["metadata"]["name"] not in claims
        ]
        jobs = _waiting(tools, namespace)
        parts = [
            f"{text} ({few(rows)})"
            for text, rows in (
                (f"{len(names)} running pods", names),
                ("claims that this library did not create", kept),
                ("jobs that wait in its queue", jobs),
            )
            if rows
        ]
        if parts:
            remedy = "wait for them or delete them, then apply again; or keep the team in the file"
            errors.append(ApplyError("check", f"Namespace {namespace}", f"it has {' and '.join(parts)}", remedy))
    errors += _claim_problems(leaving, pods)
    return [*errors, *_workload_problems(tools, leaving)]


def _claim_problems(leaving: Sequence[Key], pods: Sequence[Object]) -> list[ApplyError]:
    """Return why claims cannot be removed: a gang that restarts could not mount them."""
    errors = []
    for item in (item for item in leaving if item.kind == "PersistentVolumeClaim"):
        names = [
            pod["metadata"]["name"]
            for pod in pods
            if pod["metadata"]["namespace"] == item.namespace
            and any(
                volume.get("persistentVolumeClaim", {}).get("claimName") == item.name
                for volume in pod["spec"].get("volumes", ())
            )
        ]
        if names:
            reason = f"{len(names)} running pods mount it ({few(names)})"
            remedy = "wait for them or delete them, then apply again; or keep the file system in the file"
            errors.append(ApplyError("check", f"PersistentVolumeClaim {item.namespace}/{item.name}", reason, remedy))
    return errors


def _waiting(tools: Tools, namespace: str) -> list[str]:
    """Return the workloads of Kueue in a namespace that have no nodes yet, and would be deleted with it."""
    result = []
    for item in tools.get("workloads.kueue.x-k8s.io", f"--namespace={namespace}"):
        if not finished(item) and not item.get("status", {}).get("admission"):
            result.append(str(item["metadata"]["name"]))
    return result


def finished(workload: Object) -> bool:
    """Return True if the job of a workload of Kueue has ended."""
    rows = workload.get("status", {}).get("conditions", ())
    return any(row["type"] == "Finished" and row["status"] == "True" for row in rows)


def _workload_problems(tools: Tools, leaving: Sequence[Key]) -> list[ApplyError]:
    """Return why flavors and queues of Kueue cannot be removed: admitted workloads use them."""
    flavors = {item.name for item in leaving if item.kind == "ResourceFlavor"}
    queues = {item.name for item in leaving if item.kind == "ClusterQueue"}
    if not flavors and not queues:
        return []
    rows = admitted(tools, flavors=flavors, queues=queues)
    if not rows:
        return []
    remedy = "wait until they finish; or evict them with `ultracluster apply FILE --hold drain`, then apply: "
    remedy += "they start again from their last checkpoint"
    subject = ", ".join(sorted(flavors | queues))
    return [ApplyError("check", subject, f"{len(rows)} admitted workloads use it: {few(rows)}", remedy)]


def admitted(tools: Tools, *, flavors: Collection[str] = (), queues: Collection[str] = ()) -> list[str]:
    """Return the workloads of Kueue that have nodes of flavors or queues."""
    rows = []
    for item in tools.get("workloads.kueue.x-k8s.io", "--all-namespaces"):
        admission = item.get("status", {}).get("admission")
        if not admission or finished(item):
            continue
        used = {name for row in admission.get("podSetAssignments", []) for name in row.get("flavors", {}).values()}
        if used & {*flavors} or admission.get("clusterQueue") in queues:
            rows.append(f"{item['metadata']['namespace']}/{item['metadata']['name']}")
    return rows


def running_pods(tools: Tools) -> list[Object]:
    """Return the pods of all namespaces that have not ended."""
    fields = "--field-selector=status.phase!=Succeeded,status.phase!=Failed"
    return tools.get("pods", "--all-namespaces", fields)


def few(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def manifest_of(tools: Tools, release: Release) -> str:
    """Return what is installed of a release, as text; empty if it is not."""
    try:
        return tools.run("helm", "get", "manifest", release.name, "--namespace", release.namespace)
    except ToolError:
        return ""


def planned_manifest(tools: Tools, release: Release, arguments: Sequence[str]) -> str:
    """Return what helm would install, by a dry run on the API server."""
    text = tools.run("helm", *arguments, "--dry-run=server", "--output=json")
    result: str = json.loads(text[text.index("{") :])["manifest"]
    return result
