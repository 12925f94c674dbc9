"""The limits of Amazon S3 Files, a file system over a bucket.

See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-performance.html and s3-files-quotas.html
(read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_PERFORMANCE = Source(
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-performance.html "
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-quotas.html",
    read_on="2026-11-21",
)
_PCS_READY_DLAMI = Source(
    "https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_pcs-ready-dlami.html",
    read_on="2026-11-22",
    as_of="2026-05-22",
)

# All clients together, by region 1 to 5 GiB/s: this is what every region gives. Each checkpoint would wait for it.
WRITE_GIB_PER_S: Annotated[int, Stated(_PERFORMANCE, "GiB/s")] = 1
#: Changes reach the bucket after about so many seconds; until then they are in the file system alone.
EXPORT_AFTER_SECONDS: Annotated[int, Stated(_PERFORMANCE, "s")] = 60
#: Files that reach the bucket in a second at most: a clone of a large repository queues.
EXPORT_FILES_PER_S: Annotated[int, Stated(_PERFORMANCE, "files/s")] = 800
#: What home directories run into.
UNSUPPORTED: Annotated[tuple[str, ...], Stated(_PERFORMANCE, columns="features")] = (
    "hard links",
    "POSIX ACLs",
    "nconnect",
)
#: Version of amazon-efs-utils in the PCS-ready DLAMI of 2026-05-22, the example of its page; S3 Files needs 3.0.
PCS_IMAGE_EFS_UTILS: Annotated[str, Stated(_PCS_READY_DLAMI, columns="version of amazon-efs-utils")] = "2.4.2"
