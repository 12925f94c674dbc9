"""A rendered platform as files: objects, values of charts, and a script that installs them in order."""

from collections.abc import Iterable

from ultracluster.kubernetes.from_cluster_file import NOT_DEPLOYED
from ultracluster.kubernetes.objects import Object
from ultracluster.kubernetes.release import HelmRelease, Manifest
from ultracluster.kubernetes.rendering import Rendered
from ultracluster.kubernetes.yaml_text import to_yaml

# What must be there before what. Everything else comes last.
_FIRST = (
    *("Namespace", "EC2NodeClass", "NodePool", "NetworkPolicy", "PersistentVolume", "PersistentVolumeClaim"),
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap"),
    *("ResourceClaimTemplate", "Topology", "ResourceFlavor", "Cohort", "Queue", "ClusterQueue", "LocalQueue"),
)
_INSTALL = """\
#!/usr/bin/env bash
# Installs or updates what stands on the cluster, in order. Run it from anywhere, as often as you like.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if grep --recursive --files-with-matches NOT_DEPLOYED objects; then
  echo "These need ids that only a deployment knows: render again with --outputs." >&2
  exit 1
fi
"""


def platform_files(rendered: Rendered) -> dict[str, str]:
    """The files of a platform: path -> text. `kubectl diff --filename objects` shows what would change."""
    releases = rendered.releases
    commands = [_command(one) for one in releases]
    values = {_values(one): to_yaml([one.values]) for one in releases if isinstance(one, HelmRelease)}
    apply = "kubectl apply --server-side --filename objects"
    return {
        "charts.yaml": to_yaml([[_row(one) for one in releases]]),
        "install.sh": _INSTALL.replace("NOT_DEPLOYED", NOT_DEPLOYED) + "\n".join([*commands, apply]) + "\n",
        **values,
        **{f"objects/{path}": text for path, text in object_files(rendered.objects).items()},
    }


def object_files(objects: Iterable[Object]) -> dict[str, str]:
    """A file for each object, called after it; what others need sorts first."""
    found = {}
    for one in objects:
        kind, metadata = one["kind"], one["metadata"]
        rank = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        words = [f"{rank:02}", kind.lower(), metadata.get("namespace", ""), metadata["name"]]
        found["-".join(word for word in words if word) + ".yaml"] = to_yaml([one])
    return dict(sorted(found.items()))


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
