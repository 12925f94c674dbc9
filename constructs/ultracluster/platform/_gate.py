"""Gate: nodes, devices, queues, volumes, collectors and applications of the file, compared with the cluster."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ultracluster.platform._bundle import Bundle, Group
from ultracluster.platform._releases import stuck_pod
from ultracluster.platform._tools import Tools

Object = dict[str, Any]
# One node in four at most, two of a small group, and 5 % of a large one: the limit of nodes that repairs may take.
_UNHEALTHY_SHARE = 4
_NAMES = {"nvidia.com/gpu": "GPUs", "vpc.amazonaws.com/efa": "EFA devices"}


@dataclass(slots=True)
class Line:
    """A line of the gate: a summary, and what is missing.

    Args:
        text: Summary.
        missing: What is missing, a text each.
        queues: True for the line of the queues, which a hold stops.
        unhealthy: Names of the nodes that are not ready, or lack devices.
        few: True if all that is missing is of a few unhealthy nodes, which do not stop the rest.
    """

    text: str
    missing: list[str] = field(default_factory=list)
    queues: bool = False
    unhealthy: frozenset[str] = frozenset()
    few: bool = False


def gate(tools: Tools, bundle: Bundle) -> list[Line]:
    """Return the lines of the gate; each with what is missing, on which node."""
    nodes, now = tools.get("nodes"), datetime.now(UTC)
    members = [(group, [node for node in nodes if _in(node, group)]) for group in bundle.groups]
    lines = [_group(group, joined, {}, now) for group, joined in members]
    if any(line.missing for line in lines) and (reasons := _stuck_devices(tools, bundle)):
        lines = [_group(group, joined, reasons, now) for group, joined in members]
    lines += _device_pods(tools, bundle, sum(len(line.unhealthy) for line in lines))
    lines += _queues(tools, bundle)
    lines += _volumes(tools, bundle)
    if bundle.metrics:
        # Those of the system and of others have collectors too.
        down = {node["metadata"]["name"] for node in nodes if _not_ready(node)}
        lines.append(_collectors(tools, bundle.metrics, down.union(*(line.unhealthy for line in lines))))
    if bundle.applications:
        lines.append(_applications(tools, bundle.applications, unhealthy=any(line.unhealthy for line in lines)))
    return lines


def _in(node: Object, group: Group) -> bool:
    labels = node["metadata"].get("labels", {})
    return all(labels.get(name) == value for name, value in group.labels.items())


def _stuck_devices(tools: Tools, bundle: Bundle) -> dict[str, str]:
    """Return why a pod of a device plugin does not start, by node: the devices of that node are missing then."""
    return {
        pod["spec"]["nodeName"]: reason
        for namespace in sorted({release.namespace for release in bundle.releases if release.phase == "devices"})
        for pod in tools.get("pods", f"--namespace={namespace}")
        if "nodeName" in pod["spec"] and (reason := stuck_pod(pod))
    }


def _device_pods(tools: Tools, bundle: Bundle, unhealthy: int) -> list[Line]:
    """Return the lines of the DaemonSets of devices whose pods are not all of the new version.

    Old pods offer the same devices. On a node that is lost they stay, so as many as there are unhealthy nodes are few.
    """
    lines = []
    releases = [release for release in bundle.releases if release.phase == "devices"]
    for namespace in sorted({release.namespace for release in releases}):
        names = {release.name for release in releases if release.namespace == namespace}
        for item in tools.get("daemonsets", f"--namespace={namespace}"):
            metadata, status = item["metadata"], item.get("status", {})
            owner = metadata.get("annotations", {}).get("meta.helm.sh/release-name")
            # Those of an operator have no release; in kube-system are those of others.
            if owner not in names and (owner or namespace == "kube-system"):
                continue
            desired, updated = (status.get(f"{count}NumberScheduled", 0) for count in ("desired", "updated"))
            if status.get("observedGeneration", 0) < metadata.get("generation", 0):
                updated = 0
            if old := desired - updated:
                text = f"{metadata['name']}: {updated:,} of {desired:,} pods have the new version"
                missing = [f"DaemonSet {namespace}/{metadata['name']}: {old} pods have the old version"]
                lines.append(Line(text, missing, few=old <= unhealthy))
    return lines


def _group(group: Group, nodes: Sequence[Object], reasons: Mapping[str, str], now: datetime) -> Line:
    missing: list[str] = []
    unhealthy = set()
    ready = 0
    totals = dict.fromkeys(group.resources, 0)
    for node in nodes:
        name = _name(node)
        problems = _node_problems(node)
        ready += not problems
        before = len(missing)
        missing += [f"{name}: {problem}" for problem in problems]
        allocatable = node.get("status", {}).get("allocatable", {})
        for resource, expected in group.resources.items():
            count = int(allocatable.get(resource, 0))
            totals[resource] += count
            if count < expected:
                reason = reasons.get(node["metadata"]["name"])
                text = f"{count} of {expected} {_NAMES.get(resource, resource)} are allocatable"
                missing.append(f"{name}: {text}; {reason}" if reason else f"{name}: {text}")
        if len(missing) > before:
            unhealthy.add(node["metadata"]["name"])
    # A group that waits for its capacity may have fewer nodes. Those that it has must be ready.
    excuse = group.excuse(now)
    absent = 0 if excuse else max(0, group.nodes - len(nodes))
    if absent:
        missing.append(f"{absent} of {group.nodes} nodes have not joined")
    parts = [f"{ready:,} of {group.nodes:,} nodes ready"]
    parts += [
        f"{totals[resource]:,} of {expected * group.nodes:,} {_NAMES.get(resource, resource)} allocatable"
        for resource, expected in group.resources.items()
    ]
    text = f"{group.name}: {', '.join(parts)}"
    few = len(unhealthy) + absent <= min(group.nodes // _UNHEALTHY_SHARE, max(2, group.nodes // 20))
    return Line(f"{text} ({excuse})" if excuse else text, missing, unhealthy=frozenset(unhealthy), few=few)


def _name(node: Object) -> str:
    instance = node["spec"].get("providerID", "").rpartition("/")[2]
    name: str = node["metadata"]["name"]
    return f"{name} ({instance})" if instance else name


def _not_ready(node: Object) -> str:
    ready = _condition(node, "Ready")
    if ready.get("status") == "True":
        return ""
    return f"not ready: {ready.get('message') or ready.get('reason') or 'no condition'}"


def _node_problems(node: Object) -> list[str]:
    problems = [text] if (text := _not_ready(node)) else []
    if node["spec"].get("unschedulable"):
        problems.append("cordoned")
    for taint in node["spec"].get("taints", []):
        if taint["key"] == "fsx.csi.aws.com/agent-not-ready":
            problems.append(
                "the driver of FSx for Lustre is not ready, or did not see its taint: `kubectl delete pod` of the "
                "fsx-csi-node on this node starts it again"
            )
    return problems


def _queues(tools: Tools, bundle: Bundle) -> list[Line]:
    desired = _wanted(bundle, "LocalQueue")
    if not desired:
        return []
    missing = []
    for item in tools.get("localqueues.kueue.x-k8s.io", "--all-namespaces"):
        place = (item["metadata"]["namespace"], item["metadata"]["name"])
        active = _condition(item, "Active")
        if place in desired and active.get("status") == "True":
            desired[place] = True
        elif place in desired:
            missing.append(f"queue {'/'.join(place)}: {active.get('message') or 'not active'}")
    lacking = missing or _absent("queue", desired)
    return [Line(f"queues: {sum(desired.values())} of {len(desired)} active", lacking, True)]


def _volumes(tools: Tools, bundle: Bundle) -> list[Line]:
    desired = _wanted(bundle, "PersistentVolumeClaim")
    if not desired:
        return []
    missing = []
    for item in tools.get("persistentvolumeclaims", "--all-namespaces"):
        place = (item["metadata"]["namespace"], item["metadata"]["name"])
        phase = item.get("status", {}).get("phase", "Pending")
        if place in desired and phase == "Bound":
            desired[place] = True
        elif place in desired:
            missing.append(f"claim {'/'.join(place)}: {phase}")
    return [Line(f"volumes: {sum(desired.values())} of {len(desired)} bound", missing or _absent("claim", desired))]


def _collectors(tools: Tools, namespace: str, unhealthy: Collection[str]) -> Line:
    """Compare the collectors of metrics with their nodes.

    The agent of each has a probe: it is ready while the workspace accepts what it sends.
    """
    few = True
    expected = ready = collectors = 0
    missing = []
    for kind, desired, available in (
        ("daemonsets", "desiredNumberScheduled", "numberReady"),
        ("deployments", "replicas", "readyReplicas"),
    ):
        for item in tools.get(kind, f"--namespace={namespace}"):
            collectors += 1
            source = item.get("status", {}) if kind == "daemonsets" else item["spec"]
            expected += source.get(desired, 0)
            ready += item.get("status", {}).get(available, 0)
    for pod in tools.get("pods", f"--namespace={namespace}"):
        if _condition(pod, "Ready").get("status") != "True":
            node = pod["spec"].get("nodeName", "no node")
            missing.append(f"{node}: {stuck_pod(pod) or _silent(pod)}")
            few &= node in unhealthy
    if ready < expected and not missing:
        missing.append(f"{expected - ready} collectors have no pod")
        few = False
    if not collectors:
        missing.append(f"namespace {namespace} has no collectors")
        few = False
    return Line(f"metrics: arriving from {ready} of {expected} collectors", missing, few=few)


def _silent(pod: Object) -> str:
    """Return why a collector is not ready whose containers start."""
    status, name = pod.get("status", {}), f"pod {pod['metadata']['name']}"
    waiting = [row["name"] for row in status.get("containerStatuses", ()) if not row["ready"]]
    if status.get("phase") != "Running":
        return f"{name}: {status.get('phase')}"
    if waiting == ["agent"]:
        return f"{name}: the workspace accepts none of its metrics, see the log of its container agent"
    # The kubelet of a node that is lost reports nothing: its containers were ready.
    return f"{name}: {', '.join(waiting)} not ready" if waiting else f"{name}: its node does not answer"


def _applications(tools: Tools, desired: Sequence[str], *, unhealthy: bool) -> Line:
    """Compare the applications of Argo CD with their repository, at the revision of the first one.

    One with a DaemonSet progresses without end while a node is unhealthy.
    """
    items = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}": item.get("status", {})
        for item in tools.get("applications.argoproj.io", "--all-namespaces")
    }
    few = unhealthy
    missing = []
    for name in desired:
        if (status := items.get(name)) is None:
            missing.append(f"application {name}: not in the cluster")
            few = False
            continue
        sync, health = status.get("sync", {}), status.get("health", {})
        states = (sync.get("status", "Unknown"), health.get("status", "Unknown"))
        if states != ("Synced", "Healthy"):
            operation = status.get("operationState", {})
            messages = [row.get("message") for row in (*status.get("conditions", ()), operation, health)]
            reason = next(filter(None, messages), "")
            missing.append(f"application {name}: {', '.join(states)}{f': {reason}' if reason else ''}")
            few &= states == ("Synced", "Progressing")
    revision = items.get(desired[0], {}).get("sync", {}).get("revision", "")
    text = f"applications: {len(desired) - len(missing)} of {len(desired)} synced and healthy"
    return Line(f"{text}, at {revision[:7]}" if revision else text, missing, few=few)


def _wanted(bundle: Bundle, kind: str) -> dict[tuple[str, str], bool]:
    return {
        (item["metadata"]["namespace"], item["metadata"]["name"]): False
        for item in bundle.objects
        if item["kind"] == kind
    }


def _absent(what: str, desired: dict[tuple[str, str], bool]) -> list[str]:
    return [f"{what} {'/'.join(place)}: not in the cluster" for place, present in desired.items() if not present]


def _condition(item: Object, type: str) -> Object:
    rows = item.get("status", {}).get("conditions", [])
    return next((row for row in rows if row["type"] == type), {})
