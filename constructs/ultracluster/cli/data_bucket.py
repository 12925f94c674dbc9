"""What `ultracluster check` says of the bucket for datasets and checkpoints."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ultracluster.clusterfile import ClusterFile


def bucket_sentences(cluster: "ClusterFile") -> list[str]:
    """Which it is, and what encrypts it. Nothing when there is none."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return [f"data bucket: {bucket.name}, yours, {f'with the key {bucket.key}' if bucket.key else 'without a key'}"]
    if not cluster.storage.data_bucket:
        return []
    return [f"data bucket: a new one, with {cluster.encryption_key or 'a key that is made'}"]


def bucket_facts(cluster: "ClusterFile") -> dict[str, Any] | None:
    """The same as data. None: there is none."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        return {"existing": bucket.name, "key": bucket.key}
    return {"existing": None, "key": cluster.encryption_key} if cluster.storage.data_bucket else None
