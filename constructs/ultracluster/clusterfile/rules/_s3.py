"""Rules of the data bucket; those of its name are with the word in `sections/_s3.py`."""

from collections.abc import Iterator

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.rules._rule import Rule, shared
from ultracluster.planning.s3 import existing_bucket_warning

_EXISTING = shared("existing-bucket")


def warn_bucket(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    bucket = cluster.storage.existing_bucket
    if bucket is not None:
        yield _EXISTING, existing_bucket_warning(bucket.name, bucket.key, cluster.region)
