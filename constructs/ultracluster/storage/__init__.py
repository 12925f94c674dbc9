"""Where data lives: FSx for Lustre and S3."""

from ultracluster.planning.linked_bucket import Tier
from ultracluster.storage.cold_data_release import ColdDataRelease
from ultracluster.storage.data_bucket import DataBucket
from ultracluster.storage.data_repository_association import DataRepositoryAssociation
from ultracluster.storage.efs_home import EfsHome
from ultracluster.storage.existing_bucket import EXISTING_BUCKET, ExistingBucket
from ultracluster.storage.existing_home import ExistingHome
from ultracluster.storage.existing_lustre import EXISTING_LUSTRE, ExistingLustre
from ultracluster.storage.express_bucket import ExpressBucket, express_endpoint
from ultracluster.storage.home_directory import HomeDirectory
from ultracluster.storage.log_bucket import LogBucket
from ultracluster.storage.lustre_file_system import LustreFileSystem
from ultracluster.storage.lustre_metrics import LustreMetrics
from ultracluster.storage.openzfs_home import OpenZfsHome
from ultracluster.storage.s3_files_home import S3FilesHome

__all__ = [
    "EXISTING_BUCKET",
    "EXISTING_LUSTRE",
    "ColdDataRelease",
    "DataBucket",
    "DataRepositoryAssociation",
    "EfsHome",
    "ExistingBucket",
    "ExistingHome",
    "ExistingLustre",
    "ExpressBucket",
    "HomeDirectory",
    "LogBucket",
    "LustreFileSystem",
    "LustreMetrics",
    "OpenZfsHome",
    "S3FilesHome",
    "Tier",
    "express_endpoint",
]
