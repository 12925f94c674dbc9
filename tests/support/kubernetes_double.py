"""A cluster behind kubectl and helm that refuses what the API server and the controllers' definitions refuse.

It stands in for the executables, one call at a time. What it refuses was seen on kube-apiserver 1.36.2 with the
definitions of Kueue 0.19.2, Trainer 2.3.0 and JobSet 0.12.0 (2026-11-22): kinds without their controller, namespaces
that do not exist or end, fields that a definition does not have, what its rules in CEL refuse, changes of immutable
fields of Kubernetes' own kinds, and fields of another manager. Controllers work after each call, unless `slow`.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.kubernetes_controllers import delete, finished, reconcile
from support.kubernetes_rules import broken
from support.kubernetes_schemas import ValidationError, validate
from support.kubernetes_shapes import RECORD, is_core, shape
from ultracluster.platform import ToolError, Tools
from ultracluster.platform._hold import HELD

Object = dict[str, Any]
_RECORD = json.loads(RECORD.read_text())
_SERVED_BY = {
    "kueue": ("kueue.x-k8s.io",),
    "jobset": ("jobset.x-k8s.io",),
    "kubeflow-trainer": ("trainer.kubeflow.org",),
    "volcano": ("scheduling.volcano.sh",),
    "karpenter": ("karpenter.sh", "karpenter.k8s.aws"),
    "nvidia-dra-driver": ("resource.nvidia.com",),
}
# Fields of Kubernetes' own kinds that cannot change: pkg/apis of Kubernetes 1.36, validation (read 2026-11-22).
_IMMUTABLE = {
    "PersistentVolume": ("csi",),
    "PersistentVolumeClaim": ("resources", "volumeName", "storageClassName", "accessModes"),
    "ResourceClaimTemplate": ("spec",),
    "DaemonSet": ("selector",),
    "Deployment": ("selector",),
}


class Cluster(Tools):
    """Tools whose cluster is in memory."""

    def __init__(self, *nodes: Object) -> None:
        super().__init__(kubectl=Path("kubectl"), helm=Path("helm"), kubeconfig=Path("none"), backoff=(0, 0, 0))
        state: dict[str, Any] = {"objects": {}, "releases": {}, "calls": [], "foreign": set(), "admin": True}
        state |= {"failures": [], "slow": False, "denied": set()}
        object.__setattr__(self, "env", state)
        for name in ("default", "kube-system"):
            self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for node in nodes:
            self.put(node)

    @property
    def state(self) -> dict[str, Any]:
        result: Any = self.env
        return dict(result)

    @property
    def objects(self) -> dict[tuple[str, str, str], Object]:
        result: dict[tuple[str, str, str], Object] = self.state["objects"]
        return result

    def put(self, item: Object) -> None:
        self.objects[_key(item)] = item

    def names(self, kind: str) -> set[str]:
        return {name for other, _, name in self.objects if other == kind}

    def run(
        self, tool: str, *arguments: str, stdin: str | None = None, codes: Sequence[int] = (0,), timeout: int = 900
    ) -> str:
        self.state["calls"].append((tool, *arguments))
        if self.state["failures"] and arguments[0] == "get":
            raise ToolError("kubectl get", self.state["failures"].pop())
        verb = f"_{tool}_{arguments[0].replace('-', '_')}"
        result: str = getattr(self, verb)(list(arguments[1:]), stdin)
        if arguments[0] != "get" and "--dry-run=server" not in arguments and not self.state["slow"]:
            self.reconcile()
        return result

    def reconcile(self) -> None:
        """Run the controllers of the installed releases."""
        reconcile(self.objects, self.state["releases"], self.state["denied"])

    # Verbs of helm.
    def _helm_list(self, arguments: list[str], stdin: str | None) -> str:
        rows = [{**row, "revision": "1"} for row in self.state["releases"].values()]
        return json.dumps(rows)

    def _helm_upgrade(self, arguments: list[str], stdin: str | None) -> str:
        name, chart = arguments[1], arguments[2]
        if self.state["releases"].get(name, {}).get("status", "").startswith("pending"):
            raise ToolError("helm upgrade", "another operation (install/upgrade/rollback) is in progress")
        option = dict(pairwise(arguments))
        namespace, version = option["--namespace"], option.get("--version", "1.0.0")
        self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        self.state["releases"][name] = {
            "name": name,
            "namespace": namespace,
            "status": "deployed",
            "chart": f"{chart.rpartition('/')[2]}-{version}",
        }
        label, _, value = option["--labels"].partition("=")
        labels = {"owner": "helm", "name": name, "version": "1", label: value}
        self.put(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": f"sh.helm.release.v1.{name}.v1", "namespace": namespace, "labels": labels},
            }
        )
        return ""

    def _helm_rollback(self, arguments: list[str], stdin: str | None) -> str:
        self.state["releases"][arguments[0]]["status"] = "deployed"
        return ""

    def _helm_show(self, arguments: list[str], stdin: str | None) -> str:
        return ""

    def _helm_uninstall(self, arguments: list[str], stdin: str | None) -> str:
        name = arguments[0]
        del self.state["releases"][name]
        groups = _SERVED_BY.get(name, ("none",))
        for key, item in list(self.objects.items()):
            served, metadata = item["apiVersion"].startswith(groups), item["metadata"]
            done = item["kind"] == "Workload" and finished(item) and not metadata.get("finalizers")
            assert done or not served, f"{key} is left without its controller"
            if served or (metadata.get("labels", {}).get("name") == name and item["kind"] == "Secret"):
                del self.objects[key]
        return ""

    # Verbs of kubectl.
    def _kubectl_auth(self, arguments: list[str], stdin: str | None) -> str:
        return "yes\n" if self.state["admin"] else "no\n"

    def _kubectl_wait(self, arguments: list[str], stdin: str | None) -> str:
        return ""

    def _kubectl_get(self, arguments: list[str], stdin: str | None) -> str:
        kind = re.sub("ies$", "ys", arguments[0].partition(".")[0].lower()).rstrip("s")
        kinds = {kind, kind.removesuffix("e")}
        rows = [item for (known, _, _), item in self.objects.items() if known.lower() in kinds]
        for argument in arguments[1:]:
            option, _, value = argument.partition("=")
            if option == "--namespace":
                rows = [item for item in rows if item["metadata"].get("namespace") == value]
            elif option == "--selector":
                rows = [item for item in rows if _selected(item, value)]
            elif not option.startswith("--"):
                rows = [item for item in rows if item["metadata"]["name"] == argument]
        return json.dumps({"items": rows})

    def _kubectl_apply(self, arguments: list[str], stdin: str | None) -> str:
        if stdin is None:
            return "deployment/mpi-operator serverside-applied"
        parsed = json.loads(stdin)
        items = parsed["items"] if parsed["kind"] == "List" else [parsed]
        dry, force = "--dry-run=server" in arguments, "--force-conflicts" in arguments
        before = dict(self.objects)
        errors = []
        applied_set = next((a.rpartition("/")[2] for a in arguments if a.startswith("--applyset=")), None)
        for item in items:
            if error := self._refusal(item, force):
                errors.append(error)
                continue
            if applied_set:
                item["metadata"].setdefault("labels", {})[_PART_OF] = self._set(applied_set)
            self.put(_kept(self.objects.get(_key(item), {}), item))
        if dry or errors:
            if dry:
                self.objects.clear()
                self.objects.update(before)
            if errors:
                raise ToolError("kubectl apply", "\n".join(errors))
            return ""
        return "\n".join(self._pruned(applied_set, items)) if applied_set else ""

    def _kubectl_create(self, arguments: list[str], stdin: str | None) -> str:
        item = json.loads(stdin or "")
        if _key(item) in self.objects:
            raise ToolError(
                "kubectl create", f'Error from server (AlreadyExists): leases "{_key(item)[2]}" already exists'
            )
        return self._stored(item)

    def _kubectl_replace(self, arguments: list[str], stdin: str | None) -> str:
        item = json.loads(stdin or "")
        known = self.objects.get(_key(item))
        if known is None:
            raise ToolError("kubectl replace", f'Error from server (NotFound): leases "{_key(item)[2]}" not found')
        if known["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
            raise ToolError("kubectl replace", "Error from server (Conflict): the object has been modified")
        return self._stored(item)

    def _kubectl_patch(self, arguments: list[str], stdin: str | None) -> str:
        option = dict(argument.partition("=")[::2] for argument in arguments[2:])
        assert option["--type"] == "merge"
        kind = {"clusterqueues.kueue.x-k8s.io": "ClusterQueue"}[arguments[0]]
        item = self.objects[kind, "", arguments[1]]
        self.put(_merged(item, json.loads(option["--patch"])))
        for (known, _, _), queue in self.objects.items():
            # What Kueue's controller does with a queue that is stopped.
            if known == "LocalQueue" and queue["spec"]["clusterQueue"] == arguments[1]:
                stopped = self.objects[kind, "", arguments[1]]["spec"]["stopPolicy"] != "None"
                status = {"type": "Active", "status": str(not stopped), "message": "ClusterQueue is stopped"}
                queue["status"] = {"conditions": [status]}
        return ""

    def _stored(self, item: Object) -> str:
        self.state["calls"].append(("stored", item["kind"]))
        item["metadata"]["resourceVersion"] = str(len(self.state["calls"]))
        self.put(item)
        return json.dumps(item)

    def _kubectl_api_resources(self, arguments: list[str], stdin: str | None) -> str:
        rows = {(item["apiVersion"], item["kind"]) for item in self.objects.values()}
        return "\n".join(f"x {api} true {kind}" for api, kind in rows)

    def _kubectl_diff(self, arguments: list[str], stdin: str | None) -> str:
        items = json.loads(stdin)["items"] if stdin else []
        known = {_key(item): self.objects.get(_key(item)) for item in items}
        return "".join(
            f"~ {key}\n"
            for (key, old), item in zip(known.items(), items, strict=True)
            if not old or _applied(old) != item
        )

    def _set(self, cluster: str) -> str:
        labels: dict[str, str] = self.objects["Platform", "", cluster]["metadata"]["labels"]
        return labels["applyset.kubernetes.io/id"]

    def _pruned(self, cluster: str, items: list[Object]) -> list[str]:
        wanted, lines = {_key(item) for item in items}, []
        for key, item in list(self.objects.items()):
            if item["metadata"].get("labels", {}).get(_PART_OF) == self._set(cluster) and key not in wanted:
                if key in self.objects:  # unless it left with its namespace
                    delete(self.objects, key)
                lines.append(f"{key[0].lower()}/{key[2]} pruned")
        kinds = ",".join(sorted({item["kind"] for item in items}))
        self.objects["Platform", "", cluster]["metadata"]["annotations"][_KINDS] = kinds
        return lines

    def _refusal(self, item: Object, force: bool) -> str | None:
        kind, namespace, name = _key(item)
        group, api = item["apiVersion"].rpartition("/")[0], item["apiVersion"]
        if group in ("apiextensions.k8s.io", "ultracluster.io"):
            return None
        served = {group for release in self.state["releases"] for group in _SERVED_BY.get(release, ())}
        if not is_core(api) and group not in served and not group.endswith("k8s.io"):
            return f'no matches for kind "{kind}" in version "{api}"'
        if group == "kueue.x-k8s.io" and group not in served:
            return f'no matches for kind "{kind}" in version "{api}"'
        if namespace and ("Namespace", "", namespace) not in self.objects:
            return f'Error from server (NotFound): namespaces "{namespace}" not found'
        ending = namespace and "deletionTimestamp" in self.objects["Namespace", "", namespace]["metadata"]
        if ending and _key(item) not in self.objects:
            reason = f"unable to create new content in namespace {namespace} because it is being terminated"
            return f'"{name}" is forbidden: {reason}'
        invalid = f'The {kind} "{name}" is invalid: '
        if f"{api} {kind}" in _RECORD:
            unknown = sorted(set(shape(_applied(item))) - set(_RECORD[f"{api} {kind}"]["fields"]))
            if unknown:
                return f"strict decoding error: unknown field {unknown[0]} in {kind} {name}"
        elif is_core(api) and (error := _core_error(json.dumps(item))):
            return f"{invalid}{error}"
        old = self.objects.get((kind, namespace, name))
        if lines := broken(_RECORD.get(f"{api} {kind}", {}), item, old):
            return f"{invalid}{'; '.join(lines)}"
        if old is None:
            return None
        if (kind, namespace, name) in self.state["foreign"] and not force:
            return f'Apply failed with 1 conflict: conflict with "kubectl-edit": {kind} {name}'
        changed = [field for field in _IMMUTABLE.get(kind, ()) if old["spec"].get(field) != item["spec"].get(field)]
        return f"{invalid}spec.{changed[0]}: field is immutable" if changed else None


@cache
def _core_error(item: str) -> str | None:
    try:
        validate(json.loads(item), "1.35")
    except ValidationError as error:
        return str(error.message)
    return None


_PART_OF = "applyset.kubernetes.io/part-of"
_KINDS = "applyset.kubernetes.io/contains-group-kinds"
_OF_CONTROLLERS = ("finalizers", "deletionTimestamp")


def _applied(item: Object) -> Object:
    """An object without what controllers set in its metadata."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in _OF_CONTROLLERS}
    return {**item, "metadata": metadata}


def _key(item: Object) -> tuple[str, str, str]:
    return item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]


def _kept(old: Object, item: Object) -> Object:
    """An applied object with what other managers have set: its status, finalizers, and the hold of a queue."""
    result = {**item, **({"status": old["status"]} if "status" in old else {})}
    if set_by_controllers := {key: old["metadata"][key] for key in _OF_CONTROLLERS if key in old.get("metadata", {})}:
        result["metadata"] = {**item["metadata"], **set_by_controllers}
    held = {key: value for key, value in old.get("metadata", {}).get("annotations", {}).items() if key == HELD}
    if held:
        result["spec"] = {**result["spec"], "stopPolicy": old["spec"]["stopPolicy"]}
        annotations = {**result["metadata"].get("annotations", {}), **held}
        result["metadata"] = {**result["metadata"], "annotations": annotations}
    return result


def _merged(item: Any, patch: Any) -> Any:
    """A JSON merge patch, RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(item) if isinstance(item, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _selected(item: Object, selector: str) -> bool:
    labels = item["metadata"].get("labels", {})
    return all(
        labels.get(name) == value if sign else name in labels
        for name, sign, value in (part.partition("=") for part in selector.split(","))
    )


def node(index: int, group: str, **devices: int) -> Object:
    """A ready node of a group with 8 GPUs and 16 EFA devices, unless others are given."""
    allocatable = {"nvidia.com/gpu": str(devices.get("gpus", 8)), "vpc.amazonaws.com/efa": str(devices.get("efa", 16))}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"ip-10-0-0-{index}", "labels": {"ultracluster.dev/group": group}},
        "spec": {"providerID": f"aws:///use2-az1/i-{index:017x}"},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }
