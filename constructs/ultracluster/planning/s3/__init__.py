"""Requirements for S3 buckets."""

from ultracluster.planning.s3._directory_bucket import (
    EXPRESS_BUCKET,
    check_directory_bucket,
    directory_bucket_name,
    directory_bucket_warnings,
)
from ultracluster.planning.s3._existing_bucket import existing_bucket_problems, existing_bucket_warning
from ultracluster.planning.s3._linked_bucket import (
    NOTIFICATIONS,
    OLD_VERSIONS_DAYS,
    ROLE_PREFIX,
    Purpose,
    Tier,
    TierClass,
    link_problems,
)

__all__ = [
    "EXPRESS_BUCKET",
    "NOTIFICATIONS",
    "OLD_VERSIONS_DAYS",
    "ROLE_PREFIX",
    "Purpose",
    "Tier",
    "TierClass",
    "check_directory_bucket",
    "directory_bucket_name",
    "directory_bucket_warnings",
    "existing_bucket_problems",
    "existing_bucket_warning",
    "link_problems",
]
