"""The limits of Amazon S3 Files, a file system over a bucket.

See: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-performance.html and s3-files-quotas.html
(read 2026-11-21)
"""

# All clients together, by region 1 to 5 GiB/s: this is what every region gives. Each checkpoint would wait for it.
WRITE_GIB_PER_S = 1
#: Changes reach the bucket after about so many seconds; until then they are in the file system alone.
EXPORT_AFTER_SECONDS = 60
#: Files that reach the bucket in a second at most: a clone of a large repository queues.
EXPORT_FILES_PER_S = 800
#: What home directories run into.
UNSUPPORTED = ("hard links", "POSIX ACLs", "nconnect")
#: Version of amazon-efs-utils in the PCS-ready DLAMI of 2026-05-22, the example of its page; S3 Files needs 3.0.
#: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_pcs-ready-dlami.html (read 2026-11-22)
PCS_IMAGE_EFS_UTILS = "2.4.2"
