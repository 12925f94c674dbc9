"""Facts about FSx for Lustre, FSx for OpenZFS, EFS and S3; each with source and date."""

from ultracluster.catalogue.storage import _data_repositories as repositories
from ultracluster.catalogue.storage import _lustre as lustre
from ultracluster.catalogue.storage import _lustre_intelligent_tiering as lustre_intelligent_tiering
from ultracluster.catalogue.storage import _lustre_metadata as lustre_metadata
from ultracluster.catalogue.storage import _lustre_places as lustre_places
from ultracluster.catalogue.storage import _lustre_quotas as lustre_quotas
from ultracluster.catalogue.storage import _openzfs as openzfs
from ultracluster.catalogue.storage._data_repositories import IMPORTED_FILE_CHUNK_MIB
from ultracluster.catalogue.storage._efs import (
    CONNECTIONS,
    INFREQUENT_AFTER_DAYS,
    LIMITS,
    MOST_PROVISIONED_MIB_PER_S,
    EfsLimits,
)
from ultracluster.catalogue.storage._express import EXPRESS_ZONES
from ultracluster.catalogue.storage._lustre import TIERS, growth_step_gib
from ultracluster.catalogue.storage._lustre_clients import EFA_GBPS, EFA_GPUDIRECT_GBPS, TCP_GBPS, TCP_GBPS_PER_SERVER
from ultracluster.catalogue.storage._lustre_intelligent_tiering import READ_CACHE_MODES, ReadCacheMode
from ultracluster.catalogue.storage._lustre_metadata import (
    INTELLIGENT_TIERING_IOPS,
    METADATA_MODES,
    SSD_IOPS,
    MetadataMode,
    included_iops,
    metadata_servers,
)
from ultracluster.catalogue.storage._lustre_quotas import LustreQuota
from ultracluster.catalogue.storage._names import BUCKET_NAME
from ultracluster.catalogue.storage._openzfs import (
    BACKUP_DAYS,
    DEPLOYMENTS,
    FULL_PERCENT,
    IOPS_PER_GIB,
    LARGEST_GIB,
    MOST_BACKUP_DAYS,
    MOST_CLIENT_RANGES,
    SMALLEST_GIB,
    DeploymentType,
    OpenZfsDeployment,
    connections,
    sold_in,
    transfer_bytes,
)
from ultracluster.catalogue.storage._s3_files import (
    EXPORT_AFTER_SECONDS,
    EXPORT_FILES_PER_S,
    UNSUPPORTED,
    WRITE_GIB_PER_S,
)

__all__ = [
    "BACKUP_DAYS",
    "BUCKET_NAME",
    "CONNECTIONS",
    "DEPLOYMENTS",
    "EFA_GBPS",
    "EFA_GPUDIRECT_GBPS",
    "EXPORT_AFTER_SECONDS",
    "EXPORT_FILES_PER_S",
    "EXPRESS_ZONES",
    "FULL_PERCENT",
    "IMPORTED_FILE_CHUNK_MIB",
    "INFREQUENT_AFTER_DAYS",
    "INTELLIGENT_TIERING_IOPS",
    "IOPS_PER_GIB",
    "LARGEST_GIB",
    "LIMITS",
    "METADATA_MODES",
    "MOST_BACKUP_DAYS",
    "MOST_CLIENT_RANGES",
    "MOST_PROVISIONED_MIB_PER_S",
    "READ_CACHE_MODES",
    "SMALLEST_GIB",
    "SSD_IOPS",
    "TCP_GBPS",
    "TCP_GBPS_PER_SERVER",
    "TIERS",
    "UNSUPPORTED",
    "WRITE_GIB_PER_S",
    "DeploymentType",
    "EfsLimits",
    "LustreQuota",
    "MetadataMode",
    "OpenZfsDeployment",
    "ReadCacheMode",
    "connections",
    "growth_step_gib",
    "included_iops",
    "lustre",
    "lustre_intelligent_tiering",
    "lustre_metadata",
    "lustre_places",
    "lustre_quotas",
    "metadata_servers",
    "openzfs",
    "repositories",
    "sold_in",
    "transfer_bytes",
]
