"""Texts and files of clusters with Kubernetes: see `Orchestrator`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from ultracluster.catalogue.schedulers import eks
from ultracluster.cli._capacity_end import end_of
from ultracluster.cli._writing import RenderedFile
from ultracluster.clusterfile import ClusterFile, NodeGroup
from ultracluster.kubernetes import NOT_DEPLOYED, platform, platform_files, platform_of
from ultracluster.monitoring import KubernetesSource, collector_objects
from ultracluster.workloads import JobFile, kubernetes_jobs

title = "Kubernetes on Amazon EKS"
other_addresses = "pods, system nodes"

_FILES = {"charts.yaml": "releases, each with its version", "install.sh": "installs all of it, in order"}
_FOLDERS = {"values": "values of a chart", "objects": "an object"}


def control_plane(cluster: ClusterFile) -> str:
    section, today = cluster.kubernetes, date.today()
    version = eks.support_on(section.version, today)
    if section.existing:
        return f"{version}; the cluster {section.existing.name}"
    system = f"system nodes: {section.system.count} {section.system.type}"
    return f"{system}; {version}; control plane of the tier {section.scaling_tier}"


def _release(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    """Describe the age of the release of AWS's image that a group pins."""
    release = cluster.nodes[group.section].release or cluster.kubernetes.release
    if release is None or group.image is not None or group.os != "al2023" or group.elastic:
        return []
    age = eks.release_age(release, date.today())
    old = "; AWS has released fixes since, see the page on updates" if age > eks.OLD_RELEASE_DAYS else ""
    return [f"AWS's image {release}, {age} days old{old}"]


def group_details(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    end = end_of(group)
    return [*_release(group, cluster), *([f"scaled to zero in time; {end.words}"] if end else [])]


def new_control_plane(before: ClusterFile, after: ClusterFile) -> str:
    return ""


def metrics_source(cluster: ClusterFile) -> KubernetesSource:
    teams = len(cluster.kubernetes.teams) or 1
    return KubernetesSource(queues=teams + 1 if cluster.kubernetes.scheduler == "kueue" else 0)


def jobs(cluster: ClusterFile) -> Sequence[JobFile]:
    return kubernetes_jobs(platform_of(cluster))


def objects(cluster: ClusterFile, deployed: Mapping[str, str]) -> list[RenderedFile]:
    of = platform_of(cluster, deployed=deployed)
    rendered = platform(of)
    collectors = collector_objects(
        cluster,
        url=deployed.get("RemoteWriteUrl", NOT_DEPLOYED),
        selectors={group.name: group.labels for group in of.nodes},
    )
    files = platform_files(replace(rendered, objects=(*rendered.objects, *collectors)))
    return [
        RenderedFile(path=path, text=text, what=_FILES.get(path) or _FOLDERS[path.partition("/")[0]])
        for path, text in files.items()
    ]
