"""Where data lives: FSx for Lustre, S3, and home directories."""

from ultracluster.storage.data_bucket import DataBucket
from ultracluster.storage.efs_home import EfsHome
from ultracluster.storage.existing_home import ExistingHome
from ultracluster.storage.home_directory import HomeDirectory
from ultracluster.storage.lustre_file_system import LustreFileSystem
from ultracluster.storage.openzfs_home import OpenZfsHome
from ultracluster.storage.s3_files_home import S3FilesHome

__all__ = [
    "DataBucket",
    "EfsHome",
    "ExistingHome",
    "HomeDirectory",
    "LustreFileSystem",
    "OpenZfsHome",
    "S3FilesHome",
]
