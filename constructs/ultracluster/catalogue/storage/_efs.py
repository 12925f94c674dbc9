"""Amazon EFS: throughput and limits.

EFS has no sizes: it grows and shrinks, and bills what is stored and, with elastic throughput, what is read and
written.

See: https://docs.aws.amazon.com/efs/latest/ug/performance.html and limits.html (read 2026-11-21)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_PERFORMANCE = Source(
    "https://docs.aws.amazon.com/efs/latest/ug/performance.html https://docs.aws.amazon.com/efs/latest/ug/limits.html",
    read_on="2026-11-21",
)
_LIMITS = Source("https://docs.aws.amazon.com/efs/latest/ug/limits.html", read_on="2026-11-21")
_LIFECYCLE = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-efs-filesystem-lifecyclepolicy.html",
    read_on="2026-11-21",
)
_FILE_SYSTEM = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-efs-filesystem.html",
    read_on="2026-11-21",
)
_BACKUP = Source("https://docs.aws.amazon.com/efs/latest/ug/awsbackup.html", read_on="2026-11-21")

FileSystemType = Literal["regional", "one-zone"]


class EfsLimits(NamedTuple):
    """Maximum throughput of a file system with elastic throughput.

    Args:
        read_gib_per_s: All clients together, in GiB/s.
        write_gib_per_s: All clients together, in GiB/s.
        client_mib_per_s: One client, reads and writes together, in MiB/s, with EFS's own client.
        plain_client_mib_per_s: The same with the NFS client of Linux alone.
    """

    read_gib_per_s: int
    write_gib_per_s: int
    client_mib_per_s: int
    plain_client_mib_per_s: int = 500


#: Eleven regions give a regional file system 60 GiB/s of reads and 5 GiB/s of writes; these hold everywhere.
LIMITS: Annotated[
    Mapping[FileSystemType, EfsLimits],
    Stated(
        _PERFORMANCE,
        columns="type of file system: read_gib_per_s, write_gib_per_s in GiB/s; client_mib_per_s, "
        "plain_client_mib_per_s in MiB/s",
    ),
] = MappingProxyType(
    {
        "regional": EfsLimits(read_gib_per_s=20, write_gib_per_s=1, client_mib_per_s=1_500),
        "one-zone": EfsLimits(read_gib_per_s=3, write_gib_per_s=1, client_mib_per_s=500),
    }
)

# Fixed quotas of a file system: connections of clients, and mount targets in one Availability Zone.
CONNECTIONS: Annotated[int, Stated(_LIMITS, "connections")] = 25_000

# Days after which lifecycle management moves a file that nobody reads to Infrequent Access.
INFREQUENT_AFTER_DAYS: Annotated[tuple[int, ...], Stated(_LIFECYCLE, "d")] = (1, 7, 14, 30, 60, 90, 180, 270, 365)

# Provisioned throughput in MiB/s: four regions sell up to 3.33 GiB/s, all others 1 GiB/s.
MOST_PROVISIONED_MIB_PER_S: Annotated[int, Stated(_FILE_SYSTEM, "MiB/s")] = 3_414

# Days that AWS Backup's own plan for EFS keeps the daily backups.
BACKUP_DAYS: Annotated[int, Stated(_BACKUP, "d")] = 35
