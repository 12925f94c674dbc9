"""Releases of AWS's images of EKS, written into a cluster file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracluster.catalogue.schedulers import release_parameter

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

Path = tuple[str, ...]
# Node group of the controllers, which has the release of the cluster.
_SYSTEM = "system"


def releases(
    cluster: "ClusterFile", deployed: Callable[[str], str | None], newest: Callable[[str], str | None]
) -> tuple[dict[Path, str], list[str]]:
    """Return the releases to write, each with the path of its mapping, and the node groups whose release is not known.

    Groups of Amazon Linux share one key if they, and the system nodes, have one release. Otherwise, each gets its own.

    Args:
        cluster: Cluster file.
        deployed: Returns the release of a deployed node group, or None.
        newest: Returns the value of a public parameter of Systems Manager, or None.

    Raises:
        ValueError: If node groups of one section have several releases.
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
        values = shared if group.os == "al2023" else apart
        if (other := values.setdefault(("nodes", group.section), release)) != release:
            raise ValueError(f"nodes.{group.section}: its node groups have {other} and {release}; deploy them first")
    system = deployed(_SYSTEM) if shared else None
    if len({*shared.values(), *([system] if system else [])}) == 1:
        shared = {("kubernetes",): next(iter(shared.values()))}
    return {**shared, **apart}, unknown
