"""The file system of the home directories in words and as data."""

from typing import Any

from ultracluster.clusterfile._cluster_file import ClusterFile

_SERVICES = {"openzfs": "FSx for OpenZFS", "efs": "EFS", "s3-files": "S3 Files", "nfs": "NFS"}


def home_lines(cluster: ClusterFile) -> list[str]:
    """Describe the file system and the reasons for its size; empty if there is none."""
    home, size = cluster.storage.home, cluster.home_size
    if home is None:
        return []
    if size is None:
        existing = home.existing and (home.existing.id or f"{home.existing.server}:{home.existing.path}")
        return [f"home: {_SERVICES[home.type]} at {home.mount}{f', existing: {existing}' if existing else ''}"]
    return [
        f"home: FSx for OpenZFS at {home.mount}, backups of {home.backups}",
        *(f"  - {reason}" for reason in size.reasons),
    ]


def home_facts(cluster: ClusterFile) -> dict[str, Any] | None:
    size = cluster.home_size
    if size is None:
        return None
    return {
        "deployment_type": size.deployment_type,
        "capacity_gib": size.capacity_gib,
        "throughput_mb_per_s": size.throughput_mb_per_s,
        "most_clients": size.most_clients,
    }
