"""Bundle of a platform: the data that `ultracluster.platform` installs."""

import json
from datetime import UTC
from typing import Any

from ultracluster.kubernetes._charts import CHARTS, MPI_OPERATOR_IMAGE, MPI_OPERATOR_NAMESPACE
from ultracluster.kubernetes._files import in_order
from ultracluster.kubernetes._from_cluster_file import missing_parameters
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._rendering import Rendered
from ultracluster.kubernetes._required import required_image
from ultracluster.kubernetes._resources import EFA, GPU, node_resources
from ultracluster.planning.capacity import expected_times, runs_until, waits

_FORMAT = 1


def platform_bundle(of: Platform, rendered: Rendered, *, metrics: str | None) -> dict[str, Any]:
    """Return the bundle of a platform, as JSON: releases by phase, objects in order, and what the gate expects.

    Args:
        of: Platform; ids that a deployment creates are placeholders.
        rendered: Its releases and objects, those of the monitoring included.
        metrics: Namespace of the collectors of metrics, or None without monitoring.
    """
    bundle = {
        "format": _FORMAT,
        "cluster": of.cluster,
        "region": of.region,
        "scheduler": of.scheduler,
        "metrics": metrics,
        "releases": [_release(release) for release in rendered.releases],
        "objects": in_order(rendered.objects),
        "groups": [_group(of, group) for group in of.nodes],
    }
    return {**bundle, "parameters": missing_parameters([json.dumps(bundle)])}


def required_bundle(of: Platform) -> dict[str, Any]:
    """Return the bundle of the releases that the service of the nodes requires before it creates them."""
    return {
        "format": _FORMAT,
        "partial": True,
        "cluster": of.cluster,
        "region": of.region,
        "scheduler": of.scheduler,
        "metrics": None,
        "releases": [_release(release) for release in of.required],
        "objects": [],
        "groups": [],
        "parameters": [],
    }


def _release(release: HelmRelease | Manifest) -> dict[str, Any]:
    if isinstance(release, Manifest):
        return {
            "name": release.name,
            "phase": "controllers",
            "version": release.version,
            "namespace": MPI_OPERATOR_NAMESPACE,
            "image": MPI_OPERATOR_IMAGE,
            "manifest": release.url,
            "values": {},
        }
    known = CHARTS.get(release.name)
    # A chart without pods of its own is recognized by its name alone.
    image = known.image if known else required_image(release.name) or MPI_OPERATOR_IMAGE
    archive = {} if release.archive is None else {"archive": release.archive}
    return {
        "name": release.name,
        "phase": "devices" if known and known.devices else "controllers",
        "version": release.version,
        "namespace": release.namespace,
        "image": image,
        "chart": release.chart,
        **archive,
        "repository": release.repository,
        "values": dict(release.values),
    }


def _group(of: Platform, group: PlatformNodes) -> dict[str, Any]:
    node = node_resources(group)
    resources = {GPU: node.gpus} if node.gpus and of.gpu != "dra-driver" else {}
    if of.efa_way(group) == "device-plugin":
        resources[EFA] = node.efa
    reason = "Karpenter launches them on demand" if group.elastic else of.late
    starts, _ = expected_times(group.capacity)
    if waits(group.capacity) and starts is None:
        reason = "its Capacity Block has not started"
    times = {"starts": starts, "until": runs_until(group.capacity)}
    return {
        "name": group.name,
        "labels": group.labels,
        "nodes": group.count,
        "resources": resources,
        "optional": reason,
        **{name: f"{time.astimezone(UTC):%Y-%m-%dT%H:%MZ}" for name, time in times.items() if time is not None},
    }
