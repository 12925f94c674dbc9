"""Quotas of FSx for Lustre: defaults of an account in a Region, all adjustable but the EFA connections.

See: https://docs.aws.amazon.com/general/latest/gr/fsxn.html, which has the codes, and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html (read 2026-11-21)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ultracluster.catalogue.provenance import Source, Stated

_FSXN = Source(
    "https://docs.aws.amazon.com/general/latest/gr/fsxn.html "
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html",
    read_on="2026-11-21",
)
_CONFIGURE_EFA_CLIENTS = Source(
    "https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html", read_on="2026-11-20"
)

# Fixed: EFA connections of one file system, each EFA interface of each client being one.
EFA_CONNECTIONS: Annotated[int, Stated(_CONFIGURE_EFA_CLIENTS, "connections")] = 1024


class LustreQuota(NamedTuple):
    """One quota.

    Args:
        name: Name in Service Quotas.
        code: Code in Service Quotas, service `fsx`.
        default: All file systems of the account and Region together.
        unit: Unit of the quota.
    """

    name: str
    code: str
    default: int
    unit: str


PERSISTENT_2_CAPACITY: Annotated[
    LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")
] = LustreQuota(name="Lustre Persistent_2 storage capacity", code="L-8F1B9C74", default=100_800, unit="GiB")
PERSISTENT_2_FILE_SYSTEMS: Annotated[
    LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")
] = LustreQuota(name="Lustre Persistent_2 file systems", code="L-FD6F2F22", default=100, unit="file systems")
SCRATCH_CAPACITY: Annotated[LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")] = (
    LustreQuota(name="Lustre Scratch storage capacity", code="L-AD2FC696", default=100_800, unit="GiB")
)
SCRATCH_FILE_SYSTEMS: Annotated[
    LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")
] = LustreQuota(name="Lustre Scratch file systems", code="L-C48231E5", default=100, unit="file systems")
INTELLIGENT_TIERING_THROUGHPUT: Annotated[
    LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")
] = LustreQuota(
    name="Lustre Persistent Intelligent-Tiering throughput capacity", code="L-0CD18A5D", default=100_000, unit="MB/s"
)
INTELLIGENT_TIERING_READ_CACHE: Annotated[
    LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")
] = LustreQuota(
    name="Lustre Persistent Intelligent-Tiering SSD read cache storage capacity",
    code="L-B7391FCE",
    default=100_800,
    unit="GiB",
)
BACKUPS: Annotated[LustreQuota, Stated(_FSXN, columns="name and code in Service Quotas, default, unit")] = LustreQuota(
    name="Lustre backups", code="L-CD5E0524", default=500, unit="user-initiated backups"
)

LUSTRE_QUOTAS = (
    PERSISTENT_2_CAPACITY,
    PERSISTENT_2_FILE_SYSTEMS,
    SCRATCH_CAPACITY,
    SCRATCH_FILE_SYSTEMS,
    INTELLIGENT_TIERING_THROUGHPUT,
    INTELLIGENT_TIERING_READ_CACHE,
    BACKUPS,
)
