"""Where data lives: FSx for Lustre and S3."""

from ultracluster.storage.data_bucket import DataBucket
from ultracluster.storage.existing_lustre import EXISTING_LUSTRE, ExistingLustre
from ultracluster.storage.lustre_file_system import LustreFileSystem
from ultracluster.storage.lustre_metrics import LustreMetrics

__all__ = ["EXISTING_LUSTRE", "DataBucket", "ExistingLustre", "LustreFileSystem", "LustreMetrics"]
