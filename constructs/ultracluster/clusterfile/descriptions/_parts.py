"""Parts that the command `check` describes."""

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.descriptions import _deployment, _home, _lustre, _s3
from ultracluster.clusterfile.descriptions._description import Description


def describe(cluster: ClusterFile) -> list[Description]:
    """Return the descriptions of file systems, buckets and the first deployment."""
    # The lines of the associations are among those of the file system that they belong to.
    return [
        Description(
            name="lustre",
            lines=[*_lustre.file_system_lines(cluster), *_s3.association_lines(cluster)],
            facts=_lustre.file_system_facts(cluster),
        ),
        Description(name="data_bucket", lines=_s3.bucket_lines(cluster), facts=_s3.bucket_facts(cluster)),
        Description(name="links", facts=_s3.association_facts(cluster)),
        Description(name="home", lines=_home.home_lines(cluster), facts=_home.home_facts(cluster)),
        _deployment.deployment(cluster),
    ]
