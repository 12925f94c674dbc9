"""Files of a rendered platform: objects, chart values, and a script that installs them in order."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes._from_cluster_file import NOT_DEPLOYED, platform_of
from ultracluster.kubernetes._objects import Object
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._rendering import Rendered, platform
from ultracluster.kubernetes._yaml_text import to_yaml

# What must be there before what. Everything else comes last.
_FIRST = (
    *("Namespace", "EC2NodeClass", "NodePool", "NetworkPolicy", "PersistentVolume", "PersistentVolumeClaim"),
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap"),
    *("ResourceClaimTemplate", "Topology", "ResourceFlavor", "Cohort", "Queue", "ClusterQueue", "LocalQueue"),
)
_INSTALL = """\
#!/usr/bin/env bash
# Installs or updates the releases and objects of the cluster, in order. Run it from anywhere, as often as you like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if grep --recursive --files-with-matches NOT_DEPLOYED objects; then
  echo "These need ids that only a deployment knows: render again with --outputs." >&2
  exit 1
fi
"""


def cluster_files(
    cluster: ClusterFile,
    *,
    deployed: Mapping[str, str],
    more: Callable[[Mapping[str, Mapping[str, str]]], Iterable[Object]],
) -> dict[str, str]:
    """Return the files of a cluster file by path; empty for another orchestrator.

    Args:
        cluster: Cluster file.
        deployed: Outputs of its stacks by name.
        more: Returns objects that are not of the platform, from the labels of the nodes of each group.
    """
    if cluster.orchestrator != "kubernetes":
        return {}
    of = platform_of(cluster, deployed=deployed)
    rendered = platform(of)
    objects = (*rendered.objects, *more({group.name: group.labels for group in of.nodes}))
    return platform_files(replace(rendered, objects=objects))


def platform_files(rendered: Rendered) -> dict[str, str]:
    """Return the files of a platform by path. `kubectl diff --filename objects` shows what would change."""
    releases = rendered.releases
    commands = [_command(release) for release in releases]
    values = {_values(release): to_yaml([release.values]) for release in releases if isinstance(release, HelmRelease)}
    apply = "kubectl apply --server-side --filename objects"
    return {
        "charts.yaml": to_yaml([[_row(release) for release in releases]]),
        "install.sh": _INSTALL.replace("NOT_DEPLOYED", NOT_DEPLOYED) + "\n".join([*commands, apply]) + "\n",
        **values,
        **{f"objects/{path}": text for path, text in object_files(rendered.objects).items()},
    }


def object_files(objects: Iterable[Object]) -> dict[str, str]:
    """Return a file for each object, named after it; objects that others need sort first."""
    files = {}
    for manifest in objects:
        kind, metadata = manifest["kind"], manifest["metadata"]
        rank = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        parts = [f"{rank:02}", kind.lower(), metadata.get("namespace", ""), metadata["name"]]
        files["-".join(part for part in parts if part) + ".yaml"] = to_yaml([manifest])
    return dict(sorted(files.items()))


def _values(release: HelmRelease) -> str:
    return f"values/{release.name}.yaml"


def _command(release: HelmRelease | Manifest) -> str:
    return release.command if isinstance(release, Manifest) else release.command(_values(release))


def _row(release: HelmRelease | Manifest) -> dict[str, str]:
    row = {"name": release.name, "version": release.version}
    if isinstance(release, Manifest):
        return {**row, "manifest": release.url}
    row |= {"chart": release.chart, "namespace": release.namespace, "values": _values(release)}
    return row if release.repository is None else {**row, "repository": release.repository}
