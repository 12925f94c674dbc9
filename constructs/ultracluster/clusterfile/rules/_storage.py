"""Rules of home directories, mounts and the data bucket."""

from collections.abc import Iterator
from itertools import permutations

from ultracluster.catalogue.storage import MOST_BACKUP_DAYS, MOST_CLIENT_RANGES
from ultracluster.clusterfile._needs import home_size
from ultracluster.clusterfile._problems import Path, Problem, field_name
from ultracluster.clusterfile.rules._rule import error
from ultracluster.clusterfile.sections._network import Network
from ultracluster.clusterfile.sections._storage import Home, Storage

_BACKUPS = error("home-backups", "FSx keeps daily backups for 1 to 90 whole days.")
_REGION = error("home-region", "FSx for OpenZFS is not sold in every region.", acceptable=True)
_SOLD = error("home-configuration", "FSx for OpenZFS sells some capacities and throughputs only.")
_CLIENTS = error("home-clients", "NFS allows the ranges that it is given, and nodes must be in one of them.")
_MOUNTS = error("mount-overlap", "A file system that is mounted within another one hides it.")

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
        yield _BACKUPS((*_PATH, "backups"), message)
    if network is not None:
        yield from _check_clients(home, network)
    try:
        home_size(home, region=region, clients=clients)
    except ValueError as error:
        # The cluster file has no home in two zones.
        problem = _unsold(home, str(error).replace(", MULTI_AZ_1", ""))
        yield _REGION(problem.path, problem.message, at_key=problem.at_key) if _elsewhere(home, clients) else problem


def _elsewhere(home: Home, clients: int) -> bool:
    """Whether FSx sells the home in other regions."""
    try:
        home_size(home, region=None, clients=clients)
    except ValueError:
        return False
    return True


def _unsold(home: Home, message: str) -> Problem:
    """The problem at the key that is nearest to it."""
    for key, said in (("capacity", home.capacity), ("throughput", home.throughput)):
        if said is not None and message.startswith(f"the {key} ") and "; " not in message:
            return _SOLD((*_PATH, key), message)
    return _SOLD(_PATH, message, at_key=True)


def _check_clients(home: Home, network: Network) -> Iterator[Problem]:
    path: Path = (*_PATH, "clients")
    nodes = network.cidr if network.existing is None else network.existing.cidr
    if home.clients is None:
        if network.existing is not None:
            message = (
                f"the ranges of {network.existing.vpc} are not known here, and NFS asks where a node comes from; write "
                f"those that nodes are in, for example clients: [{nodes or '10.0.0.0/16'}]"
            )
            yield _CLIENTS(_PATH, message, at_key=True)
        return
    if not 1 <= len(home.clients) <= MOST_CLIENT_RANGES:
        message = f"must hold 1 to {MOST_CLIENT_RANGES} ranges of addresses, got {len(home.clients)}"
        yield _CLIENTS(path, message)
    elif nodes is not None and not any(one.overlaps(nodes) for one in home.clients):
        whose = "the VPC" if network.existing is None else network.existing.subnet
        message = f"holds no address of {whose}, {nodes}, so no node could mount it; add {nodes}"
        yield _CLIENTS(path, message)


def check_mounts(storage: Storage | None) -> Iterator[Problem]:
    """Mounts that would hide one another, told at each of the two keys."""
    for (key, path), (other_key, other) in permutations(_mounts(storage), 2):
        if f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"):
            message = (
                f"is {path}, and {field_name(other_key)} is {other}: one would hide the other; take two directories of "
                "which none is within the other"
            )
            yield _MOUNTS(key, message)


def _mounts(storage: Storage | None) -> list[tuple[Path, str]]:
    """What nodes mount: the key of each path, and the path."""
    found: list[tuple[Path, str]] = []
    if storage and storage.lustre:
        found.append((("storage", "lustre", "mount"), storage.lustre.mount))
    if storage and storage.home:
        found.append((("storage", "home", "mount"), storage.home.mount))
    if storage:
        found.append((("storage", "scratch", "path"), storage.scratch.path))
    return found
