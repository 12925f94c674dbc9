"""Where data lives: FSx for Lustre and S3."""

from ultracluster.storage.data_bucket import DataBucket
from ultracluster.storage.lustre_file_system import LustreFileSystem

__all__ = ["DataBucket", "LustreFileSystem"]
