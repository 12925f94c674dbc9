"""Rules of home directories, mounts and the data bucket."""

from collections.abc import Iterator
from itertools import permutations

from ultracluster.catalogue.storage import openzfs
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._needs import home_size
from ultracluster.clusterfile._problems import Path, Problem, field_name
from ultracluster.clusterfile.rules._rule import Rule, error, shared
from ultracluster.clusterfile.sections._storage import Home
from ultracluster.planning.home import HOME_BACKUPS, HOME_CLIENTS, HOME_SOLD

_BACKUPS = shared(HOME_BACKUPS)
_REGION = error("home-region", "FSx for OpenZFS is not sold in every region.", acceptable=True)
_SOLD = shared(HOME_SOLD)
_CLIENTS = shared(HOME_CLIENTS)
_MOUNTS = error("mount-overlap", "A file system that is mounted within another one hides it.")

_PATH: Path = ("storage", "home")


def check_home(draft: Draft) -> Iterator[Problem]:
    """Check the home directories."""
    home = draft.storage.home
    if home is None:
        return
    if home.backups.days not in range(1, openzfs.MOST_BACKUP_DAYS + 1):
        message = f"daily backups are kept for whole days, 1 d to {openzfs.MOST_BACKUP_DAYS} d, got {home.backups}"
        yield _BACKUPS((*_PATH, "backups"), message)
    yield from until_invalid(_check_clients(home, draft))
    # The rule of the region is acceptable, so errors that every region has are of the other rule.
    for rule, region in ((_SOLD, None), (_REGION, valid(lambda: draft.region))):
        try:
            home_size(home, region=region, clients=draft.instances)
        except ValueError as error:
            # The cluster file has no home in two zones.
            yield _unsold(rule, home, str(error).replace(", MULTI_AZ_1", ""))
            return


def _unsold(rule: Rule, home: Home, message: str) -> Problem:
    """Return the error at the key that causes it."""
    for key, value in (("capacity", home.capacity), ("throughput", home.throughput)):
        if value is not None and message.startswith(f"the {key} ") and "; " not in message:
            return rule((*_PATH, key), message)
    return rule(_PATH, message, at_key=True)


def _check_clients(home: Home, draft: Draft) -> Iterator[Problem]:
    path, network = (*_PATH, "clients"), draft.network
    nodes = network.cidr if network.existing is None else network.existing.cidr
    if home.clients is None:
        if network.existing is not None:
            message = (
                f"the ranges of {network.existing.vpc} are not known here, and NFS asks where a node comes from; write "
                f"those that nodes are in, for example clients: [{nodes or '10.0.0.0/16'}]"
            )
            yield _CLIENTS(_PATH, message, at_key=True)
        return
    if not 1 <= len(home.clients) <= openzfs.MOST_CLIENT_RANGES:
        message = f"must hold 1 to {openzfs.MOST_CLIENT_RANGES} ranges of addresses, got {len(home.clients)}"
        yield _CLIENTS(path, message)
    elif nodes is not None and not any(range.overlaps(nodes) for range in home.clients):
        whose = "the VPC" if network.existing is None else network.existing.subnet
        message = f"holds no address of {whose}, {nodes}, so no node could mount it; add {nodes}"
        yield _CLIENTS(path, message)


def check_mounts(draft: Draft) -> Iterator[Problem]:
    """Check that no mount hides another; both keys have the error."""
    lustre, home = draft.storage.lustre, draft.storage.home
    mounts: dict[Path, str] = {("storage", "scratch", "path"): draft.storage.scratch.path}
    mounts |= {("storage", "lustre", "mount"): lustre.mount} if lustre else {}
    mounts |= {("storage", "home", "mount"): home.mount} if home else {}
    for (key, path), (other_key, other) in permutations(mounts.items(), 2):
        if f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/"):
            message = (
                f"is {path}, and {field_name(other_key)} is {other}: one would hide the other; take two directories of "
                "which none is within the other"
            )
            yield _MOUNTS(key, message)
