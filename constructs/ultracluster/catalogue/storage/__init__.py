"""Facts about FSx for Lustre, FSx for OpenZFS, EFS and S3, a module each; each with source and date."""

from ultracluster.catalogue.storage import _aws_buckets as aws_buckets
from ultracluster.catalogue.storage import _data_repositories as repositories
from ultracluster.catalogue.storage import _efs as efs
from ultracluster.catalogue.storage import _lustre as lustre
from ultracluster.catalogue.storage import _lustre_intelligent_tiering as lustre_intelligent_tiering
from ultracluster.catalogue.storage import _lustre_kernels as lustre_kernels
from ultracluster.catalogue.storage import _lustre_metadata as lustre_metadata
from ultracluster.catalogue.storage import _lustre_places as lustre_places
from ultracluster.catalogue.storage import _lustre_quotas as lustre_quotas
from ultracluster.catalogue.storage import _openzfs as openzfs
from ultracluster.catalogue.storage import _s3 as s3
from ultracluster.catalogue.storage import _s3_files as s3_files

__all__ = [
    "aws_buckets",
    "efs",
    "lustre",
    "lustre_intelligent_tiering",
    "lustre_kernels",
    "lustre_metadata",
    "lustre_places",
    "lustre_quotas",
    "openzfs",
    "repositories",
    "s3",
    "s3_files",
]
