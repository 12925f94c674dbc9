"""Releases of AWS's images of EKS, written into a cluster file."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ultracluster.catalogue.schedulers import release_parameter

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

Path = tuple[str, ...]


def releases(
    cluster: "ClusterFile", deployed: Callable[[str], str | None], newest: Callable[[str], str | None]
) -> tuple[dict[Path, str], list[str]]:
    """Return the releases to write, each with the path of its mapping, and the node groups whose release is not known.

    Groups of Amazon Linux share one key if they have one release. Otherwise, each gets its own.

    Args:
        cluster: Cluster file.
        deployed: Returns the release of a deployed node group, or None.
        newest: Returns the value of a public parameter of Systems Manager, or None.
    """
    apart: dict[Path, str] = {}
    shared: dict[Path, str] = {}
    unknown = []
    for group in cluster.node_groups:
        given = cluster.kubernetes.release_of(cluster.nodes[group.section].release, group.os)
        if group.image is not None or group.elastic or given is not None:
            continue
        parameter = release_parameter(cluster.kubernetes.version, group.os, group.instance_type)
        release = deployed(group.name) or newest(parameter)
        if release is None:
            unknown.append(group.name)
            continue
        (shared if group.os == "al2023" else apart)["nodes", group.section] = release
    return {**_together(shared), **apart}, unknown


def _together(shared: Mapping[Path, str]) -> dict[Path, str]:
    return {("kubernetes",): next(iter(shared.values()))} if len(set(shared.values())) == 1 else dict(shared)
