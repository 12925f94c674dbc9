"""Applications of Argo CD that apply a rendered platform from a Git repository.

An application for each release, and one for the objects, in two waves: controllers, then devices and objects. A further
application holds them all. Argo CD waits for the health of a wave that is not the last, so it gets the health check of
applications, which it has no more by default: https://argo-cd.readthedocs.io/en/stable/operator-manual/health/
#argocd-app (read 2026-11-25).
"""

import re
from collections.abc import Mapping
from typing import Any

from ultracluster.kubernetes._charts import CHARTS
from ultracluster.kubernetes._files import platform_files
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._release import HelmRelease, Manifest
from ultracluster.kubernetes._rendering import Rendered
from ultracluster.kubernetes._yaml_text import to_yaml

#: Namespace of Argo CD.
NAMESPACE = "argocd"
# AWS's examples register the cluster under this name: https://docs.aws.amazon.com/eks/latest/userguide/
# argocd-register-clusters.html (read 2026-11-25)
_CLUSTER = "in-cluster"
_DIRECTORY = "argo-cd/applications"
# A DaemonSet is healthy once its pods are available on all nodes, and a sync that waits starts no other: one bad node
# would keep objects, and all later versions of charts, from the cluster. https://github.com/argoproj/argo-cd,
# gitops-engine/pkg/health/health_daemonset.go, gitops-engine/pkg/sync/sync_context.go and controller/appcontroller.go
# (3.6.0, read 2026-11-28)
_WAVES = {"controllers": 0, "devices": 1, "objects": 1}
# Their removal ends jobs or deletes claims, so that a person confirms it: https://argo-cd.readthedocs.io/en/stable/
# user-guide/sync-options/#resource-pruning-with-confirmation (read 2026-11-25)
_CONFIRMED = {
    *("Namespace", "PersistentVolume", "PersistentVolumeClaim", "ResourceFlavor", "ClusterQueue", "LocalQueue"),
    *("ComputeDomain", "NodePool"),
}
# By default a hook creates the object that configures KAI Scheduler. Argo CD runs no hook when it syncs single objects,
# and neither creates that object again nor reports that it is missing. Charts before v0.17 have the hook alone:
# https://github.com/kai-scheduler/KAI-Scheduler, docs/gitops/README.md, CHANGELOG.md and issue 1751 (read 2026-11-28)
_KAI: Mapping[str, Any] = {"kaiConfig": {"render": True}, "kaiConfigDeployer": {"enabled": False}}
_KAI_BEFORE = re.compile(r"v?0\.(\d|1[0-6])\.")
_HEALTH = """\
hs = {status = "Progressing", message = ""}
if obj.status ~= nil and obj.status.health ~= nil then
  hs.status = obj.status.health.status
  hs.message = obj.status.health.message or ""
end
return hs
"""


def argo_cd_files(
    rendered: Rendered, *, cluster: str, arn: str, repository: str, revision: str, path: str
) -> dict[str, str]:
    """Return the files of a platform for a Git repository, by path.

    `argo-cd/setup.yaml` is applied once, by a person; Argo CD applies everything else from then on.
    """
    source = {"repoURL": repository, "targetRevision": revision}
    applications = [_release(release) for release in rendered.releases]
    objects = {**source, "path": f"{path}/objects"}
    applications.append(_application(_objects_name(cluster), objects, "default", _WAVES["objects"]))
    root = _application(cluster, {**source, "path": f"{path}/{_DIRECTORY}"}, NAMESPACE, None)
    guarded = Rendered(releases=rendered.releases, objects=tuple(_guarded(item) for item in rendered.objects))
    return {
        **platform_files(guarded),
        "argo-cd/setup.yaml": to_yaml([_settings(), _registration(arn), root]),
        **{f"{_DIRECTORY}/{item['metadata']['name']}.yaml": to_yaml([item]) for item in applications},
    }


def application_names(rendered: Rendered, cluster: str) -> list[str]:
    """Return the applications of a platform as `NAMESPACE/NAME`, the one that holds the others first."""
    names = (cluster, *(release.name for release in rendered.releases), _objects_name(cluster))
    return [f"{NAMESPACE}/{name}" for name in names]


def _objects_name(cluster: str) -> str:
    return f"{cluster}-objects"


def _settings() -> Object:
    labels = {"app.kubernetes.io/part-of": "argocd"}
    data = {"resource.customizations.health.argoproj.io_Application": _HEALTH}
    return make("v1", "ConfigMap", "argocd-cm", namespace=NAMESPACE, labels=labels, data=data)


def _registration(arn: str) -> Object:
    labels = {"argocd.argoproj.io/secret-type": "cluster"}
    data = {"name": _CLUSTER, "server": arn, "project": "default"}
    return make("v1", "Secret", _CLUSTER, namespace=NAMESPACE, labels=labels, stringData=data)


def _release(release: HelmRelease | Manifest) -> Object:
    known = CHARTS.get(release.name)
    wave = _WAVES["devices" if known and known.devices else "controllers"]
    if isinstance(release, Manifest):
        return _application(release.name, _manifest_source(release), "default", wave)
    return _application(release.name, _chart_source(release), release.namespace, wave)


def _chart_source(release: HelmRelease) -> Mapping[str, Any]:
    tracked = _KAI if release.name == "kai-scheduler" and not _KAI_BEFORE.match(release.version) else {}
    helm = {"releaseName": release.name, "valuesObject": {**release.values, **tracked}}
    if release.repository is not None:
        return {
            "repoURL": release.repository, "chart": release.chart, "targetRevision": release.version, "helm": helm
        }  # fmt: skip
    # Registries are written without oci://: https://argo-cd.readthedocs.io/en/stable/user-guide/helm (read 2026-11-25)
    registry, _, chart = release.chart.removeprefix("oci://").rpartition("/")
    return {"repoURL": registry, "chart": chart, "targetRevision": release.version, "helm": helm}


def _manifest_source(manifest: Manifest) -> Mapping[str, Any]:
    """Return the repository of GitHub that a raw URL of it names."""
    owner, name, tag, path = manifest.url.removeprefix("https://raw.githubusercontent.com/").split("/", 3)
    directory, _, file = path.rpartition("/")
    return {
        "repoURL": f"https://github.com/{owner}/{name}",
        "targetRevision": tag,
        "path": directory,
        "directory": {"include": file},
    }


def _application(name: str, source: Mapping[str, Any], namespace: str, wave: int | None) -> Object:
    annotations = {"argocd.argoproj.io/compare-options": "ServerSideDiff=true"}
    if wave is not None:
        annotations["argocd.argoproj.io/sync-wave"] = str(wave)
    return make(
        "argoproj.io/v1alpha1",
        "Application",
        name,
        namespace=NAMESPACE,
        annotations=annotations,
        spec={
            "project": "default",
            "source": dict(source),
            "destination": {"name": _CLUSTER, "namespace": namespace},
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "syncOptions": ["CreateNamespace=true", "ServerSideApply=true", "SkipDryRunOnMissingResource=true"],
                # Webhooks of controllers answer some time after their pods have started.
                "retry": {"limit": 20, "backoff": {"duration": "10s", "factor": 2, "maxDuration": "3m"}},
            },
        },
    )


def _guarded(item: Object) -> Object:
    if item["kind"] not in _CONFIRMED:
        return item
    metadata = item["metadata"]
    annotations = {**metadata.get("annotations", {}), "argocd.argoproj.io/sync-options": "Prune=confirm"}
    return {**item, "metadata": {**metadata, "annotations": annotations}}
