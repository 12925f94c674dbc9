"""Home file systems sized from the number of clients."""

from ultracluster.planning.home._openzfs import CAPACITY_GIB as CAPACITY_GIB
from ultracluster.planning.home._openzfs import CONNECTIONS_PER_CLIENT as CONNECTIONS_PER_CLIENT
from ultracluster.planning.home._openzfs import HOME_BACKUPS as HOME_BACKUPS
from ultracluster.planning.home._openzfs import HOME_CLIENTS as HOME_CLIENTS
from ultracluster.planning.home._openzfs import HOME_PREFIX as HOME_PREFIX
from ultracluster.planning.home._openzfs import HOME_SOLD as HOME_SOLD
from ultracluster.planning.home._openzfs import OpenZfsSize as OpenZfsSize
from ultracluster.planning.home._openzfs import size_openzfs as size_openzfs
