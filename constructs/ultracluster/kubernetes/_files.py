"""Files of a rendered platform, for review: objects and chart values."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ultracluster.kubernetes._objects import MANAGED_BY, Object
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._rendering import Rendered
from ultracluster.kubernetes._yaml_text import to_yaml

# What must be there before what. Everything else comes last. A change of a node class makes nodes drifted, which the
# budget of its pool limits, so the pool comes first; it waits for its class: Karpenter's
# pkg/controllers/nodepool/readiness (read 2026-11-28).
_FIRST = (
    *("Namespace", "NodePool", "EC2NodeClass", "NetworkPolicy", "PersistentVolume", "PersistentVolumeClaim"),
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap"),
    *("ResourceClaimTemplate", "Topology", "ResourceFlavor", "Cohort", "Queue", "ClusterQueue", "LocalQueue"),
)
# Kinds that are created with another one. A policy comes before the permission that it limits.
_LIKE = {
    "HyperpodNodeClass": "EC2NodeClass",
    "ValidatingAdmissionPolicy": "NetworkPolicy",
    "ValidatingAdmissionPolicyBinding": "NetworkPolicy",
}


def platform_files(rendered: Rendered) -> dict[str, str]:
    """Return the files of a platform by path: `charts.yaml`, the values of each chart, and each object."""
    releases = rendered.releases
    values = {_values(release): to_yaml([release.values]) for release in releases if isinstance(release, HelmRelease)}
    return {
        "charts.yaml": to_yaml([[_row(release) for release in releases]]),
        **values,
        **{f"objects/{path}": text for path, text in object_files(rendered.objects).items()},
    }


def in_order(objects: Iterable[Object]) -> list[Object]:
    """Return objects in the order of their creation."""
    return sorted(objects, key=lambda manifest: (_rank(manifest), _name(manifest)))


def object_files(objects: Iterable[Object]) -> dict[str, str]:
    """Return a file for each object, named after it; objects that others need sort first."""
    return {f"{_rank(item):02}-{_name(item)}.yaml": to_yaml([item]) for item in in_order(objects)}


def is_rendered(file: str, item: Any) -> bool:
    """Return whether a file has the name that rendering gives to its object, or to an application of the platform.

    Args:
        file: Name of the file, without its directory.
        item: Content of the file.
    """
    metadata = item.get("metadata") if isinstance(item, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(item.get("kind"), str) or "name" not in metadata:
        return False
    if item["kind"] == "Application":
        return file == f"{metadata['name']}.yaml" and MANAGED_BY.items() <= (metadata.get("labels") or {}).items()
    return re.fullmatch(rf"\d\d-{re.escape(_name(dict(item)))}\.yaml", file) is not None


def _rank(manifest: Object) -> int:
    kinds: Sequence[str] = _FIRST
    kind = _LIKE.get(manifest["kind"], manifest["kind"])
    return kinds.index(kind) if kind in kinds else len(kinds)


def _name(manifest: Object) -> str:
    metadata = manifest["metadata"]
    return "-".join(part for part in (manifest["kind"].lower(), metadata.get("namespace"), metadata["name"]) if part)


def _values(release: HelmRelease) -> str:
    return f"values/{release.name}.yaml"


def _row(release: HelmRelease | Manifest) -> dict[str, str]:
    row = {"name": release.name, "version": release.version}
    if isinstance(release, Manifest):
        return {**row, "manifest": release.url}
    row |= {"chart": release.chart, "namespace": release.namespace, "values": _values(release)}
    return row if release.repository is None else {**row, "repository": release.repository}
