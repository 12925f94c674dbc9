"""FSx for Lustre, S3 and home file systems."""

from ultracluster.planning.s3 import Tier as Tier
from ultracluster.storage._interfaces import IBucketGrants as IBucketGrants
from ultracluster.storage._interfaces import IDataBucket as IDataBucket
from ultracluster.storage._interfaces import IExpressBucket as IExpressBucket
from ultracluster.storage._interfaces import ILustreFileSystem as ILustreFileSystem
from ultracluster.storage._interfaces import ISharedFileSystem as ISharedFileSystem
from ultracluster.storage._storage import Storage as Storage
from ultracluster.storage.home._efs_home import EfsHome as EfsHome
from ultracluster.storage.home._nfs_home import NfsHome as NfsHome
from ultracluster.storage.home._openzfs_home import OpenZfsHome as OpenZfsHome
from ultracluster.storage.home._s3_files_home import S3FilesHome as S3FilesHome
from ultracluster.storage.lustre._base import access_times as access_times
from ultracluster.storage.lustre._cold_data_release import ColdDataRelease as ColdDataRelease
from ultracluster.storage.lustre._data_repository_association import (
    DataRepositoryAssociation as DataRepositoryAssociation,
)
from ultracluster.storage.lustre._file_system import LustreFileSystem as LustreFileSystem
from ultracluster.storage.lustre._metrics import LustreMetrics as LustreMetrics
from ultracluster.storage.s3._data_bucket import DataBucket as DataBucket
from ultracluster.storage.s3._express_bucket import ExpressBucket as ExpressBucket
from ultracluster.storage.s3._express_bucket import express_endpoint as express_endpoint
from ultracluster.storage.s3._log_bucket import LogBucket as LogBucket
from ultracluster.storage.s3._private_bucket import private_bucket as private_bucket
