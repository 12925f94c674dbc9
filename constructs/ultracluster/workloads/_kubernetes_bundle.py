"""Bundle of a cluster file: platform and collectors of metrics, ready to apply."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes import (
    application_names,
    argo_cd_files,
    missing_parameters,
    objects_in_registry,
    parameter,
    platform,
    platform_bundle,
    platform_files,
    platform_of,
)
from ultracluster.monitoring import collector_objects
from ultracluster.monitoring.collectors import NAMESPACE
from ultracluster.workloads._artifacts import cluster_artifacts
from ultracluster.workloads._limits import refused


def kubernetes_bundle(cluster: ClusterFile) -> dict[str, Any]:
    """Return the bundle of a cluster file for Kubernetes; ids that a deployment creates are placeholders."""
    of, rendered, collected = _rendered(cluster, {})
    bundle = platform_bundle(of, rendered, metrics=NAMESPACE if collected else None)
    if of.registry is not None:
        # Validated before anything is installed.
        known = [item for item in cluster_artifacts(cluster) if item.platform and item.known]
        bundle["images"] = [item.target for item in known if item.target]
    if cluster.kubernetes.argo_cd is not None:
        bundle["applications"] = application_names(rendered, of.cluster)
    return bundle


def kubernetes_files(cluster: ClusterFile, deployed: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the same content, for review; empty for another orchestrator.

    Args:
        cluster: Cluster file.
        deployed: Values of the parameters by name; placeholders stand for the others.

    Raises:
        ValueError: If Argo CD applies the files, and a value is missing.
    """
    if not cluster.traits.has_platform:
        return {}
    of, rendered, _ = _rendered(cluster, deployed)
    settings = cluster.kubernetes.argo_cd
    if settings is None:
        return platform_files(rendered)
    files = argo_cd_files(
        rendered,
        cluster=of.cluster,
        arn=parameter("ClusterArn", deployed),
        repository=settings.repository,
        revision=settings.revision,
        path=settings.path or of.cluster,
    )
    if missing := missing_parameters(files.values()):
        raise refused(
            f"Argo CD applies these files as they are, and there is no value of {', '.join(missing)}: deploy the "
            "stacks first, all of them"
        )
    return files


def _rendered(cluster: ClusterFile, deployed: Mapping[str, str]) -> tuple[Any, Any, bool]:
    of = platform_of(cluster, deployed=deployed)
    rendered = platform(of)
    collectors = collector_objects(
        cluster,
        url=parameter("RemoteWriteUrl", deployed),
        selectors={group.name: group.labels for group in of.nodes},
    )
    collectors = objects_in_registry(collectors, of.registry, of.region)
    return of, replace(rendered, objects=(*rendered.objects, *collectors)), bool(collectors)
