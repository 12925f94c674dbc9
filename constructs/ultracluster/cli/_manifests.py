"""Objects of the charts of a Kubernetes cluster, as `helm template` renders them."""

import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ultracluster.cli._writing import RenderedFile

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile

_SECONDS = 60


def manifest_files(cluster: "ClusterFile", deployed: Mapping[str, str], bundle: Path | None) -> list[RenderedFile]:
    """Return a file for each release: all objects that Helm installs, definitions and hooks included.

    Args:
        cluster: Cluster file.
        deployed: Outputs of the deployment; placeholders stand for the others.
        bundle: Directory with charts, manifests or executables to use instead of pulling, or None.

    Raises:
        ValueError: If a chart cannot be read or rendered.
    """
    from ultracluster import platform
    from ultracluster.kubernetes import parameter_values
    from ultracluster.workloads import kubernetes_bundle

    if not cluster.traits.has_platform:
        return []
    data: dict[str, Any] = kubernetes_bundle(cluster)
    values = {name: f"${{{name}}}" for name in data["parameters"]} | parameter_values(deployed)
    try:
        parsed = platform.Bundle.parse(data, values, directory=bundle)
        with (
            tempfile.TemporaryDirectory() as directory,
            platform.signed_in(platform.find_tools(Path(directory) / "no-cluster", bundle), parsed) as tools,
        ):
            return [
                RenderedFile(
                    path=f"manifests/{release.name}.yaml",
                    text=_published(release.manifest)
                    if release.manifest
                    else platform.chart_objects(tools, release, kubernetes=cluster.kubernetes.version),
                    what="objects of a release",
                )
                for release in parsed.releases
            ]
    except (platform.ApplyError, OSError) as error:
        raise ValueError(str(error)) from None


def _published(manifest: str) -> str:
    """Return the manifest of a project without a chart, from its URL or a path."""
    if not manifest.startswith("https://"):
        return Path(manifest).read_text(encoding="utf-8")
    with urllib.request.urlopen(manifest, timeout=_SECONDS) as answer:
        text: str = answer.read().decode()
        return text
