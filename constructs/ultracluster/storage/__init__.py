"""FSx for Lustre, S3 and home file systems."""

from ultracluster.planning.s3 import Tier
from ultracluster.storage._interfaces import (
    IBucketGrants,
    IDataBucket,
    IExpressBucket,
    ILustreFileSystem,
    ISharedFileSystem,
)
from ultracluster.storage._storage import Storage
from ultracluster.storage.home._efs_home import EfsHome
from ultracluster.storage.home._nfs_home import NfsHome
from ultracluster.storage.home._openzfs_home import OpenZfsHome
from ultracluster.storage.home._s3_files_home import S3FilesHome
from ultracluster.storage.lustre._base import access_times
from ultracluster.storage.lustre._cold_data_release import ColdDataRelease
from ultracluster.storage.lustre._data_repository_association import DataRepositoryAssociation
from ultracluster.storage.lustre._file_system import LustreFileSystem
from ultracluster.storage.lustre._metrics import LustreMetrics
from ultracluster.storage.s3._data_bucket import DataBucket
from ultracluster.storage.s3._express_bucket import ExpressBucket, express_endpoint
from ultracluster.storage.s3._log_bucket import LogBucket
from ultracluster.storage.s3._private_bucket import private_bucket

__all__ = [
    "ColdDataRelease",
    "DataBucket",
    "DataRepositoryAssociation",
    "EfsHome",
    "ExpressBucket",
    "IBucketGrants",
    "IDataBucket",
    "IExpressBucket",
    "ILustreFileSystem",
    "ISharedFileSystem",
    "LogBucket",
    "LustreFileSystem",
    "LustreMetrics",
    "NfsHome",
    "OpenZfsHome",
    "S3FilesHome",
    "Storage",
    "Tier",
    "access_times",
    "express_endpoint",
    "private_bucket",
]
