"""Links between a file system and S3, as the file asks for them."""

from ultracluster.clusterfile.storage_sections import Link, Lustre
from ultracluster.planning import Association

#: Stands for the name of the data bucket, which only a deployment knows.
DATA_BUCKET = "${Token[DATA-BUCKET]}"


def prefix(path: str, link: Link) -> str:
    """The part of its bucket that a link shows; empty for all of it."""
    if link.prefix is not None:
        return link.prefix
    return path.strip("/") if link.bucket is None else ""


def associations(lustre: Lustre) -> list[Association]:
    """The links of a file system in the order of the file."""
    return [_association(path, link) for path, link in lustre.links.items()]


def readable(message: str) -> str:
    """A message without the stand-in for the data bucket."""
    return message.replace(DATA_BUCKET, "DATA-BUCKET")


def _association(path: str, link: Link) -> Association:
    part = prefix(path, link)
    return Association(
        path=path,
        repository=f"s3://{link.bucket or DATA_BUCKET}" + (f"/{part}" if part else ""),
        import_events=link.import_,
        export_events=link.export,
    )
