"""Apply objects as an ApplySet: what is no longer in the file is pruned.

The parent of the set is a custom resource, because a parent with a namespace holds objects of that namespace alone.
See: https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config and https://git.k8s.io/enhancements/
keps/sig-cli/3659-kubectl-apply-prune (alpha in kubectl 1.35, read 2026-11-22)
"""

import base64
import hashlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ultracluster.platform._errors import ApplyError, ToolError
from ultracluster.platform._failures import passes
from ultracluster.platform._tools import Tools

Object = dict[str, Any]
_GROUP = "ultracluster.io"
_MANAGER = "--field-manager=ultracluster"
_LABEL = "applyset.kubernetes.io"
#: Label of the objects of a set.
PART_OF = f"{_LABEL}/part-of"
_DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"platforms.{_GROUP}", "labels": {f"{_LABEL}/is-parent-type": "true"}},
    "spec": {
        "group": _GROUP,
        "names": {"kind": "Platform", "plural": "platforms", "singular": "platform"},
        "scope": "Cluster",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}
# Messages of a dry run that refuse an edit, whatever is installed first.
_REFUSAL = re.compile(r"is invalid|forbidden|immutable|conflict|denied the request|strict decoding", re.IGNORECASE)
# The object in a message.
_SUBJECTS = (
    r'The (\w+ "[^"]+") is invalid',
    r'error when (?:patching|creating) "[^"]*": (\w+ "[^"]+")',
    r'(webhook "[^"]+")',
    r'([\w.]+ "[^"]+") is forbidden',
    r'no matches for (kind "[^"]+")',
)
# Warnings of kubectl's own log, in the format of klog.
_WARNING = re.compile(r"W\d{4} |ApplySet field manager ")
_RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Key:
    """Kind, namespace and name of an object."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return `Kind namespace/name`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def key(item: Object) -> Key:
    """Return the key of an object."""
    metadata = item["metadata"]
    return Key(item["kind"], metadata.get("namespace", ""), metadata["name"])


def prepare(tools: Tools, cluster: str) -> None:
    """Create the parent of the set."""
    tools.run("kubectl", "apply", "--server-side", _MANAGER, "--filename=-", stdin=json.dumps(_DEFINITION))
    tools.run("kubectl", "wait", "--for=condition=Established", f"crd/platforms.{_GROUP}", "--timeout=60s")
    if not tools.get(f"platforms.{_GROUP}", cluster):
        parent = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": "Platform",
            "metadata": {
                "name": cluster,
                "labels": {f"{_LABEL}/id": set_id(cluster)},
                "annotations": {f"{_LABEL}/tooling": "kubectl/v1.35", f"{_LABEL}/contains-group-kinds": ""},
            },
        }
        # With the manager of kubectl's own updates of it.
        arguments = ("apply", "--server-side", "--field-manager=kubectl-applyset", "--filename=-")
        tools.run("kubectl", *arguments, stdin=json.dumps(parent))


def set_id(cluster: str) -> str:
    """Return the id of the set, as the specification of ApplySets has it."""
    hashed = hashlib.sha256(f"{cluster}..Platform.{_GROUP}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(hashed).decode().rstrip('=')}-v1"


def members(tools: Tools, cluster: str) -> list[Object]:
    """Return the objects of the set that the cluster has."""
    parents = tools.get(f"platforms.{_GROUP}", cluster)
    if not parents:
        return []
    kinds = parents[0]["metadata"].get("annotations", {}).get(f"{_LABEL}/contains-group-kinds", "")
    selector = f"--selector={PART_OF}={set_id(cluster)}"
    return [item for kind in filter(None, kinds.split(",")) for item in tools.get(kind, "--all-namespaces", selector)]


def refusals(tools: Tools, objects: Sequence[Object]) -> list[str]:
    """Return why the API server refuses the objects, by a dry run; what is not installed yet is not validated."""
    try:
        tools.run("kubectl", *_apply_arguments(), "--dry-run=server", stdin=_list(objects))
    except ToolError as error:
        lines = [line for line in error.message.splitlines() if "being terminated" not in line]
        return [line for line in lines if _REFUSAL.search(line)]
    return []


def apply_objects(tools: Tools, cluster: str, objects: Sequence[Object], *, force: bool, seconds: float) -> list[str]:
    """Apply the objects and prune the others of the set; return the lines of kubectl about pruned ones.

    Raises:
        ApplyError: If the API server refuses an object, or a webhook does not answer in time.
    """
    prepare(tools, cluster)
    arguments = [*_apply_arguments(force), f"--applyset=platforms.{_GROUP}/{cluster}", "--prune"]
    until = time.monotonic() + seconds
    while True:
        try:
            text = tools.run("kubectl", *arguments, stdin=_list(objects))
            return [line for line in text.splitlines() if line.endswith("pruned")]
        except ToolError as error:
            if not passes(error.message) or time.monotonic() >= until:
                raise _explained(error.message) from None
        time.sleep(_RETRY_SECONDS)


def difference(tools: Tools, cluster: str, objects: Sequence[Object]) -> str:
    """Return the difference between cluster and objects, as `kubectl diff` shows it; what is new by its name."""
    rows = [row.split() for row in tools.run("kubectl", "api-resources", "--no-headers").splitlines()]
    served = {(row[-3], row[-1]) for row in rows}
    namespaces = {item["metadata"]["name"] for item in tools.get("namespaces")}
    part_of = {PART_OF: set_id(cluster)}
    new: list[Object] = []
    compared: list[Object] = []
    for item in objects:
        metadata = item["metadata"]
        known = metadata.get("namespace") in {None, *namespaces} and (item["apiVersion"], item["kind"]) in served
        # kubectl adds this label when it applies.
        marked = {**item, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), **part_of}}}
        (compared if known else new).append(marked)
    arguments = ("diff", "--server-side", _MANAGER, "--filename=-")
    text = tools.run("kubectl", *arguments, stdin=_list(compared), codes=(0, 1)) if compared else ""
    return text + "".join(f"+ {key(item)}\n" for item in new)


def _apply_arguments(force: bool = False) -> list[str]:
    return ["apply", "--server-side", _MANAGER, *(["--force-conflicts"] if force else []), "--filename=-"]


def _list(objects: Sequence[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _explained(message: str) -> ApplyError:
    """Return the error of an apply with its remedy."""
    lines = [line for line in message.splitlines() if line.strip() and not _WARNING.match(line)]
    message, line = "\n".join(lines), lines[0] if lines else message
    subject = _subject(line)
    if "failed calling webhook" in line:
        return ApplyError(
            "webhooks", subject, line, "read the logs of the controller of this webhook; then apply again"
        )
    if "conflict" in line:
        remedy = "remove that change, or apply with --force-conflicts, which takes over the fields"
        return ApplyError("objects", subject, message, remedy)
    if "forbidden" in line.lower() and "user" in line.lower():
        return ApplyError(
            "objects", subject, line, "use a principal that `kubernetes.admins` of the cluster file names"
        )
    if "no matches for kind" in line:
        return ApplyError("objects", subject, line, "install the release that has this kind, or do not skip it")
    return ApplyError("objects", subject, message, "correct the cluster file, or delete the object; then apply again")


def _subject(line: str) -> str:
    """Return the object that a message of kubectl is about."""
    for pattern in _SUBJECTS:
        if match := re.search(pattern, line):
            return match[1]
    return "an object"
