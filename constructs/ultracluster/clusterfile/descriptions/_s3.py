"""The bucket for datasets and checkpoints, and data repository associations with S3, in words and as data."""

from typing import Any

from ultracluster.clusterfile._associations import associations, data_bucket, readable
from ultracluster.clusterfile._cluster_file import ClusterFile


def bucket_lines(cluster: ClusterFile) -> list[str]:
    """Describe the bucket and its encryption; empty if there is none."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return [f"data bucket: {bucket.name}, yours, {f'with the key {bucket.key}' if bucket.key else 'without a key'}"]
    if not cluster.storage.data_bucket:
        return []
    return [f"data bucket: a new one, with {cluster.encryption_key or 'a new key'}"]


def bucket_facts(cluster: ClusterFile) -> dict[str, Any] | None:
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return {"existing": bucket.name, "key": bucket.key}
    return {"existing": None, "key": cluster.encryption_key} if cluster.storage.data_bucket else None


def association_lines(cluster: ClusterFile) -> list[str]:
    """Describe each association and the release tasks."""
    lustre = cluster.storage.lustre
    if lustre is None:
        return []
    sentences = [
        f"  - {link['node_path']} shows {link['repository']}; imports {_words(link['import'])}, exports "
        f"{_words(link['export'])}"
        for link in association_facts(cluster)
    ]
    if lustre.release_task is not None:
        sentences.append(
            f"  - what exports is dropped from the file system {lustre.release_task.after} after its last use: "
            f"{lustre.release_task.schedule}, in UTC"
        )
    return sentences


def association_facts(cluster: ClusterFile) -> list[dict[str, Any]]:
    lustre = cluster.storage.lustre
    if lustre is None:
        return []
    return [
        {
            "path": association.path,
            "node_path": f"{lustre.mount}{association.path}".rstrip("/"),
            "repository": readable(association.repository),
            "import": list(association.import_events),
            "export": list(association.export_events),
        }
        for association in associations(lustre, data_bucket(cluster.storage))
    ]


def _words(events: list[str]) -> str:
    return ", ".join(events) or "nothing"
