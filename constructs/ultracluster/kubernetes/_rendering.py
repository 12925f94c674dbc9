"""Rendering of a platform."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ultracluster.kubernetes._availability import SYSTEM_PRIORITY, apart
from ultracluster.kubernetes._charts import mpi_operator, release
from ultracluster.kubernetes._checks import check_platform
from ultracluster.kubernetes._cluster_objects import cluster_objects
from ultracluster.kubernetes._devices import claim_templates, compute_domains, device_releases
from ultracluster.kubernetes._gate import gate_access
from ultracluster.kubernetes._health_access import health_access
from ultracluster.kubernetes._karpenter import karpenter_objects, karpenter_release
from ultracluster.kubernetes._kueue import kueue_objects, kueue_release
from ultracluster.kubernetes._member_policy import member_policies
from ultracluster.kubernetes._network_policies import team_policies
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._other_schedulers import (
    kai_objects,
    kai_release,
    namespace_queue,
    volcano_objects,
    volcano_release,
)
from ultracluster.kubernetes._platform import Platform, Scheduler
from ultracluster.kubernetes._pod_policy import pod_policy
from ultracluster.kubernetes._queue_policy import queue_policies
from ultracluster.kubernetes._registry import objects_in_registry, release_in_registry
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._reporting import helper_files
from ultracluster.kubernetes._runtimes import runtimes
from ultracluster.kubernetes._teams import team_access
from ultracluster.kubernetes._volumes import volume_objects


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """Releases and objects of a platform, in installation order.

    Args:
        releases: Helm releases, and manifests of projects without a chart: controllers, then devices.
        objects: Objects, installed after the releases with their definitions.
    """

    releases: tuple[HelmRelease | Manifest, ...]
    objects: tuple[Object, ...]


def platform(of: Platform) -> Rendered:
    """Render a platform.

    Raises:
        ValueError: If its parts exclude each other, with all errors.
    """
    check_platform(of)
    elastic = of.karpenter
    releases = [
        *of.required,
        *((karpenter_release(of, elastic),) if elastic else ()),
        *_training_releases(of),
        *_SCHEDULERS[of.scheduler][0](of),
        *device_releases(of),
    ]
    objects = [
        *cluster_objects(of),
        *karpenter_objects(of),
        *(manifest for team in of.tenants for manifest in _team(of, team.name)),
        *volume_objects(of),
        *_SCHEDULERS[of.scheduler][1](of),
        *runtimes(of),
        *health_access(),
        *gate_access(of),
        *(manifest for team in of.teams for manifest in team_access(team.name)),
        *pod_policy(of),
        *queue_policies(of),
        *member_policies(of),
    ]
    if of.registry is not None:
        releases = [release_in_registry(release, of.registry, of.region) for release in releases]
    return Rendered(releases=tuple(releases), objects=tuple(objects_in_registry(objects, of.registry, of.region)))


_SCHEDULERS: Mapping[Scheduler, tuple[Callable[[Platform], list[HelmRelease]], Callable[[Platform], list[Object]]]] = {
    "kueue": (lambda of: [kueue_release(of)], kueue_objects),
    "volcano": (lambda of: [volcano_release(of)], volcano_objects),
    "kai": (lambda of: [kai_release(of)], kai_objects),
    # Its add-on has Kueue, and creates queues by the quotas of the teams.
    "task-governance": (lambda of: [], lambda of: []),
}


def _training_releases(platform: Platform) -> list[HelmRelease | Manifest]:
    """Return the controllers that run gangs: JobSet, Trainer, LeaderWorkerSet, and the MPI operator for NCCL's tests.

    JobSet comes before Trainer, which would otherwise install its own. Their webhooks fail closed. The chart of JobSet
    alone has a budget, and that of LeaderWorkerSet alone a priority (values.yaml of each, read 2026-11-27).
    """
    jobset = {"replicas": 2, "affinity": apart("jobset"), "podDisruptionBudget": {"enabled": True}}
    trainer = {"replicas": 2, "affinity": apart("kubeflow-trainer")}
    lws: Object = {"replicaCount": 2, "affinity": apart("lws"), "priorityClassName": SYSTEM_PRIORITY}
    if platform.scheduler == "volcano":
        # It creates a PodGroup for each replica, in the queue of its annotation: pkg/schedulerprovider of LWS
        # (commit 060ab4d, read 2026-11-27).
        lws["gangSchedulingManagement"] = {"schedulerProvider": "volcano"}
    return [
        release("jobset", platform.versions, {"controller": jobset}),
        release("kubeflow-trainer", platform.versions, {"jobset": {"install": False}, "manager": trainer}),
        release("lws", platform.versions, lws),
        mpi_operator(platform.versions),
    ]


def _team(of: Platform, name: str) -> list[Object]:
    objects = [
        make("v1", "Namespace", name, annotations=namespace_queue(of, name)),
        *team_policies(name),
        helper_files(name),
    ]
    return [*objects, *claim_templates(of, name), *compute_domains(of, name)]
