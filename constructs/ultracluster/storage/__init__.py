"""Where data lives: FSx for Lustre and S3, and the links between them."""

from ultracluster.planning.linked_bucket import Tier
from ultracluster.storage.cold_data_release import ColdDataRelease
from ultracluster.storage.data_bucket import DataBucket
from ultracluster.storage.data_repository_association import DataRepositoryAssociation
from ultracluster.storage.express_bucket import ExpressBucket, express_endpoint
from ultracluster.storage.log_bucket import LogBucket
from ultracluster.storage.lustre_file_system import LustreFileSystem

__all__ = [
    "ColdDataRelease",
    "DataBucket",
    "DataRepositoryAssociation",
    "ExpressBucket",
    "LogBucket",
    "LustreFileSystem",
    "Tier",
    "express_endpoint",
]
