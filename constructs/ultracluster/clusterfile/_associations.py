"""Data repository associations of a cluster file."""

from ultracluster.clusterfile.sections._lustre import Link, Lustre
from ultracluster.clusterfile.sections._storage import Storage
from ultracluster.planning.lustre import Association

#: Placeholder for the name of a new data bucket, which CloudFormation chooses.
DATA_BUCKET = "${Token[DATA-BUCKET]}"


def prefix(path: str, link: Link) -> str:
    """Return the prefix of the bucket that an association shows; empty for all of it."""
    if link.prefix is not None:
        return link.prefix
    return path.strip("/") if link.bucket is None else ""


def data_bucket(storage: Storage) -> str:
    """Return the name of the data bucket."""
    return storage.existing_bucket.name if storage.existing_bucket else DATA_BUCKET


def shows_data_bucket(link: Link, storage: Storage) -> bool:
    """Return True if an association shows the data bucket: it names no bucket, or that one."""
    return link.bucket in (None, data_bucket(storage))


def associations(lustre: Lustre, bucket: str = DATA_BUCKET) -> list[Association]:
    """Return the associations of a file system in the order of the file."""
    return [
        Association(
            path=path,
            repository="/".join(filter(None, (f"s3://{link.bucket or bucket}", prefix(path, link)))),
            import_events=link.import_,
            export_events=link.export,
        )
        for path, link in lustre.data_repository_associations.items()
    ]


def exporting(lustre: Lustre | None) -> list[str]:
    """Return the directories of a file system that export to S3, by path from its own root."""
    return [path for path, link in lustre.data_repository_associations.items() if link.export] if lustre else []


def readable(message: str) -> str:
    """Return a message without the placeholder for the data bucket."""
    return message.replace(DATA_BUCKET, "DATA-BUCKET")
