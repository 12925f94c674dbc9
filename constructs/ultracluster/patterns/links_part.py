"""Links between the file system and S3, from a cluster file."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from ultracluster.clusterfile import ClusterFile, warnings
from ultracluster.clusterfile.links import prefix, shows_data_bucket
from ultracluster.planning.associations import BOTH_WAYS, EXPORTS_DELETIONS, UNVERSIONED
from ultracluster.storage import (
    ColdDataRelease,
    DataBucket,
    DataRepositoryAssociation,
    ExistingBucket,
    ExistingLustre,
    LustreFileSystem,
)
from ultracluster.storage.data_repository_association import FOREIGN_FILE_SYSTEM
from ultracluster.storage.repository_access import FOREIGN_BUCKET, FOREIGN_KEY

#: Warnings that the links say themselves.
LINK_WARNINGS = (BOTH_WAYS, EXPORTS_DELETIONS, UNVERSIONED, FOREIGN_BUCKET, FOREIGN_FILE_SYSTEM, FOREIGN_KEY)
_DAY = 86_400


def links(
    scope: Construct,
    cluster: ClusterFile,
    lustre: LustreFileSystem | ExistingLustre,
    data_bucket: DataBucket | ExistingBucket | None,
) -> list[DataRepositoryAssociation]:
    """The links of the file, in its order, and the release of what is cold in them."""
    wish = cluster.storage.lustre
    if wish is None or not wish.links:
        return []
    place = Construct(scope, "Links")
    made = []
    for path, link in wish.links.items():
        # No path holds a tilde, so that no two of them share an id.
        one = Construct(place, path[1:].replace("/", "~") or "~")
        if data_bucket is not None and shows_data_bucket(link, cluster.storage):
            bucket = data_bucket.bucket
        else:
            assert link.bucket is not None
            bucket = s3.Bucket.from_bucket_name(one, "Bucket", link.bucket)
        made.append(
            DataRepositoryAssociation(
                one,
                "Association",
                file_system=lustre if isinstance(lustre, LustreFileSystem) else lustre.file_system_id,
                bucket=bucket,
                path=path,
                prefix=prefix(path, link),
                import_events=link.import_,
                export_events=link.export,
            )
        )
    if wish.release is not None:
        ColdDataRelease(
            scope,
            "Release",
            associations=[one for one in made if one.association.export_events],
            not_accessed_for_days=wish.release.after.seconds // _DAY,
            mount_options=lustre.mount(wish.mount).options,
            schedule=wish.release.schedule,
        )
    acknowledge(place, cluster, LINK_WARNINGS)
    return made


def acknowledge(scope: Construct, cluster: ClusterFile, ids: Sequence[str]) -> None:
    """Acknowledge warnings that constructs below a scope say themselves, as the file does."""
    for warning in warnings(cluster):
        if warning.id in ids and warning.acknowledged is not None:
            cdk.Validations.of(scope).acknowledge(cdk.Acknowledgment(id=warning.id, reason=warning.acknowledged))
