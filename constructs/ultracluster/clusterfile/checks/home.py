"""Whether the home directories can be as the file says."""

from collections.abc import Iterator

from ultracluster.clusterfile.needs import home_size
from ultracluster.clusterfile.problems import Path, Problem
from ultracluster.clusterfile.sections.file import Network
from ultracluster.clusterfile.sections.storage import Home, Storage
from ultracluster.hardware.openzfs import MOST_BACKUP_DAYS, MOST_CLIENT_RANGES

_PATH: Path = ("storage", "home")
_DAY = 86_400


def check_home(
    storage: Storage | None, *, region: str | None, network: Network | None, clients: int
) -> Iterator[Problem]:
    """Everything that is wrong with the home directories.

    Args:
        storage: The section. None: it could not be read.
        region: The region. None: not known, not checked.
        network: The network. None: it could not be read.
        clients: Nodes that mount them, login nodes included.
    """
    home = storage.home if storage else None
    if home is None:
        return
    if home.backups.amount % _DAY or home.backups.amount > MOST_BACKUP_DAYS * _DAY:
        message = f"daily backups are kept for whole days, 1 d to {MOST_BACKUP_DAYS} d, got {home.backups}"
        yield Problem(path=(*_PATH, "backups"), message=message)
    if network is not None:
        yield from _check_clients(home, network)
    try:
        home_size(home, region=region, clients=clients)
    except ValueError as error:
        # The cluster file knows no home in two zones.
        yield _unsold(home, str(error).replace(", MULTI_AZ_1", ""))


def _unsold(home: Home, message: str) -> Problem:
    """The problem at the key that is nearest to it."""
    for key, said in (("capacity", home.capacity), ("throughput", home.throughput)):
        if said is not None and message.startswith(f"the {key} ") and "; " not in message:
            return Problem(path=(*_PATH, key), message=message)
    return Problem(path=_PATH, at_key=True, message=message)


def _check_clients(home: Home, network: Network) -> Iterator[Problem]:
    path: Path = (*_PATH, "clients")
    nodes = network.cidr if network.existing is None else network.existing.cidr
    if home.clients is None:
        if network.existing is not None:
            message = (
                f"the ranges of {network.existing.vpc} are not known here, and NFS asks where a node comes from; write "
                f"those that nodes are in, for example clients: [{nodes or '10.0.0.0/16'}]"
            )
            yield Problem(path=_PATH, at_key=True, message=message)
        return
    if not 1 <= len(home.clients) <= MOST_CLIENT_RANGES:
        message = f"must hold 1 to {MOST_CLIENT_RANGES} ranges of addresses, got {len(home.clients)}"
        yield Problem(path=path, message=message)
    elif nodes is not None and not any(one.overlaps(nodes) for one in home.clients):
        whose = "the VPC" if network.existing is None else network.existing.subnet
        message = f"holds no address of {whose}, {nodes}, so no node could mount it; add {nodes}"
        yield Problem(path=path, message=message)
