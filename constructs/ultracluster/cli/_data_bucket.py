"""`ultracluster check`: the bucket for datasets and checkpoints."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def bucket_sentences(cluster: "ClusterFile") -> list[str]:
    """Describe the bucket and its encryption; empty if there is none."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return [f"data bucket: {bucket.name}, yours, {f'with the key {bucket.key}' if bucket.key else 'without a key'}"]
    if not cluster.storage.data_bucket:
        return []
    return [f"data bucket: a new one, with {cluster.encryption_key or 'a key that is made'}"]


def bucket_facts(cluster: "ClusterFile") -> dict[str, Any] | None:
    """The bucket as data, or None."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return {"existing": bucket.name, "key": bucket.key}
    return {"existing": None, "key": cluster.encryption_key} if cluster.storage.data_bucket else None
