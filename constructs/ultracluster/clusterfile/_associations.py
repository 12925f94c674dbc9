"""Links between a file system and S3, as the file asks for them."""

from ultracluster.clusterfile.sections._lustre import Link, Lustre
from ultracluster.clusterfile.sections._storage import Storage
from ultracluster.planning.lustre import Association

#: Stands for the name of a data bucket that is made, which only a deployment knows.
DATA_BUCKET = "${Token[DATA-BUCKET]}"


def prefix(path: str, link: Link) -> str:
    """The part of its bucket that a link shows; empty for all of it."""
    if link.prefix is not None:
        return link.prefix
    return path.strip("/") if link.bucket is None else ""


def data_bucket(storage: Storage) -> str:
    """The name of the data bucket."""
    return storage.existing_bucket.name if storage.existing_bucket else DATA_BUCKET


def shows_data_bucket(link: Link, storage: Storage) -> bool:
    """Whether a link shows the data bucket: it names none, or that one."""
    return link.bucket in (None, data_bucket(storage))


def associations(lustre: Lustre, own: str = DATA_BUCKET) -> list[Association]:
    """The links of a file system in the order of the file.

    Args:
        lustre: The section.
        own: The data bucket.
    """
    return [_association(path, link, own) for path, link in lustre.data_repository_associations.items()]


def readable(message: str) -> str:
    """A message without the stand-in for the data bucket."""
    return message.replace(DATA_BUCKET, "DATA-BUCKET")


def _association(path: str, link: Link, own: str) -> Association:
    part = prefix(path, link)
    return Association(
        path=path,
        repository=f"s3://{link.bucket or own}" + (f"/{part}" if part else ""),
        import_events=link.import_,
        export_events=link.export,
    )
