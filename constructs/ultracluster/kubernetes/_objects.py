"""Kubernetes objects as plain dictionaries."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

#: Kubernetes object, as its manifest.
Object = dict[str, Any]

#: On everything that is rendered, so that it can be found again.
MANAGED_BY = {"app.kubernetes.io/managed-by": "ultracluster"}


def make(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **parts: Any,
) -> Object:
    """Return an object with its metadata; `parts` are its other sections, such as `spec`."""
    metadata: Object = {"labels": {**MANAGED_BY, **(labels or {})}, "name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def content_hash(value: Object) -> str:
    """Return eight characters for the name of an object that cannot be changed, only replaced."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def by_type(names: list[str], *, without: Sequence[Mapping[str, str]] = ()) -> Object:
    """Return the affinity to nodes of these instance types, without those with given labels."""
    expressions = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": names}]
    left_out: dict[str, list[str]] = {}
    for labels in without:
        for key, value in labels.items():
            left_out.setdefault(key, []).append(value)
    expressions += [{"key": key, "operator": "NotIn", "values": values} for key, values in left_out.items()]
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
