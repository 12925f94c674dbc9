"""Data repository associations of a cluster file."""

from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, prefix, shows_data_bucket
from ultracluster.storage._interfaces import IDataBucket, ILustreFileSystem
from ultracluster.storage.lustre._cold_data_release import ColdDataRelease
from ultracluster.storage.lustre._data_repository_association import DataRepositoryAssociation

_DAY = 86_400


def links(
    scope: Construct,
    cluster: ClusterFile,
    lustre: ILustreFileSystem,
    data_bucket: IDataBucket | None,
) -> list[DataRepositoryAssociation]:
    """Create the associations of a cluster file, in its order, and the release of their cold data."""
    section = cluster.storage.lustre
    if section is None or not section.data_repository_associations:
        return []
    parent = Construct(scope, "Links")
    associations = []
    for path, link in section.data_repository_associations.items():
        # No path contains a tilde, so the ids differ.
        link_scope = Construct(parent, path[1:].replace("/", "~") or "~")
        if data_bucket is not None and shows_data_bucket(link, cluster.storage):
            bucket = data_bucket.bucket
        else:
            assert link.bucket is not None
            bucket = s3.Bucket.from_bucket_name(link_scope, "Bucket", link.bucket)
        associations.append(
            DataRepositoryAssociation(
                link_scope,
                "Association",
                file_system=lustre,
                bucket=bucket,
                path=path,
                prefix=prefix(path, link),
                import_events=link.import_,
                export_events=link.export,
            )
        )
    if section.release_task is not None:
        ColdDataRelease(
            scope,
            "Release",
            associations=[link for link in associations if link.association.export_events],
            not_accessed_for_days=section.release_task.after.seconds // _DAY,
            mount_options=lustre.mount(section.mount).options,
            schedule=section.release_task.schedule,
        )
    return associations
