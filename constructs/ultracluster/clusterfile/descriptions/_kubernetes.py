"""Texts on clusters with Kubernetes: see `OrchestratorTexts`."""

from datetime import date

from ultracluster.catalogue.schedulers import eks
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.descriptions._capacity import end_of, quotas_of_instances

title = "Kubernetes on Amazon EKS"
other_addresses = "pods, system nodes"


def control_plane(cluster: ClusterFile) -> str:
    section, today = cluster.kubernetes, date.today()
    version = eks.support_on(section.version, today)
    if section.existing:
        return f"{version}; the cluster {section.existing.name}"
    system = f"system nodes: {section.system.count} {cluster.service_type.name}"
    charts = f"charts of {eks.CHARTS_READ_ON}, {(today - eks.CHARTS_READ_ON).days} days old"
    return f"{system}; {version}; control plane of the tier {section.scaling_tier}; {charts}"


def _release(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    """Describe the age of the release of AWS's image that a group pins."""
    release = cluster.kubernetes.release_of(cluster.nodes[group.section].release, group.os)
    if release is None or group.image is not None or group.os != "al2023" or group.elastic:
        return []
    age = eks.release_age(release, date.today())
    old = "; AWS has released fixes since, see the page on updates" if age > eks.OLD_RELEASE_DAYS else ""
    return [f"AWS's image {release}, {age} days old{old}"]


def group_details(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    end, starts = end_of(group), getattr(group.capacity, "starts", None)
    lines = [f"started by a schedule at {starts:%Y-%m-%d %H:%M} UTC"] if starts else []
    lines += [f"scaled to zero before {end.at:%Y-%m-%d %H:%M} UTC"] if end else []
    return [*_release(group, cluster), *lines]


def quotas(cluster: ClusterFile) -> str:
    return quotas_of_instances(cluster)


def new_control_plane(before: ClusterFile, after: ClusterFile) -> str:
    return ""
