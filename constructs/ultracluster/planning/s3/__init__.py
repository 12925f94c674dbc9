"""Requirements for S3 buckets."""

from ultracluster.planning.s3._directory_bucket import EXPRESS_BUCKET as EXPRESS_BUCKET
from ultracluster.planning.s3._directory_bucket import check_directory_bucket as check_directory_bucket
from ultracluster.planning.s3._directory_bucket import directory_bucket_name as directory_bucket_name
from ultracluster.planning.s3._directory_bucket import directory_bucket_warnings as directory_bucket_warnings
from ultracluster.planning.s3._existing_bucket import existing_bucket_problems as existing_bucket_problems
from ultracluster.planning.s3._existing_bucket import existing_bucket_warning as existing_bucket_warning
from ultracluster.planning.s3._linked_bucket import NOTIFICATIONS as NOTIFICATIONS
from ultracluster.planning.s3._linked_bucket import OLD_VERSIONS_DAYS as OLD_VERSIONS_DAYS
from ultracluster.planning.s3._linked_bucket import ROLE_PREFIX as ROLE_PREFIX
from ultracluster.planning.s3._linked_bucket import Purpose as Purpose
from ultracluster.planning.s3._linked_bucket import Tier as Tier
from ultracluster.planning.s3._linked_bucket import TierClass as TierClass
from ultracluster.planning.s3._linked_bucket import link_problems as link_problems
