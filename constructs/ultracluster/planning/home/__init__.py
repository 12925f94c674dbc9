"""Home file systems sized from the number of clients."""

from ultracluster.planning.home._openzfs import (
    CAPACITY_GIB,
    CONNECTIONS_PER_CLIENT,
    HOME_BACKUPS,
    HOME_CLIENTS,
    HOME_PREFIX,
    HOME_SOLD,
    OpenZfsSize,
    size_openzfs,
)

__all__ = [
    "CAPACITY_GIB",
    "CONNECTIONS_PER_CLIENT",
    "HOME_BACKUPS",
    "HOME_CLIENTS",
    "HOME_PREFIX",
    "HOME_SOLD",
    "OpenZfsSize",
    "size_openzfs",
]
