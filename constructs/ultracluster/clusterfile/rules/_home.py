"""Rules of home directories."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import IPv4Network, collapse_addresses

from ultracluster.catalogue.ec2 import is_local_zone
from ultracluster.catalogue.storage import openzfs, s3_files
from ultracluster.clusterfile._associations import prefix, shows_data_bucket
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._needs import home_size
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile.rules._network import PUBLIC_RANGE, own_subnets
from ultracluster.clusterfile.rules._rule import Rule, error, listed, shared, warning
from ultracluster.clusterfile.sections._home import Home
from ultracluster.clusterfile.sections._image import ImageOption
from ultracluster.planning.capacity import BuiltImage
from ultracluster.planning.home import HOME_BACKUPS, HOME_CLIENTS, HOME_PREFIX, HOME_SOLD
from ultracluster.planning.network import PRIVATE_RANGES, plan_zone_subnets

_BACKUPS = shared(HOME_BACKUPS)
_THROUGHPUT = error(
    "home-throughput", "Each deployment type of FSx for OpenZFS supports fixed steps of throughput.", acceptable=True
)
_REGION = error(
    "home-region", "FSx for OpenZFS, or its deployment type, is not available in every Region.", acceptable=True
)
_SOLD = shared(HOME_SOLD)
_CLIENTS = shared(HOME_CLIENTS)
# Acceptable: a network that a CDK app hands in has other subnets than the file plans.
_SUBNETS = error(
    "home-clients-subnet", "NFS lets no node mount the homes from a subnet that it is not given.", acceptable=True
)
_TYPE = error("home-type", "Each type of home directories has keys of its own.")
_EXISTING = error("home-existing", "An existing file system keeps its own shape, and is named by its own keys.")
_KUBERNETES = error("home-kubernetes", "Kubernetes mounts home directories by the CSI driver of an EKS add-on.")
_ZONE = error("home-zone", "EFS and S3 Files are mounted within their zones.")
_S3_FILES = error("home-s3-files", "S3 Files shows one prefix of the data bucket, which nothing else may write.")
_CLIENT = error("home-client", "The image must have the client of the home directories.", acceptable=True)
_EXISTING_HOME = warning("existing-home", "An existing home file system is neither retained nor changed.")
_NOT_ON_KUBERNETES = {
    "s3-files": "its CSI driver needs a role that this library does not create",
    "nfs": "no EKS add-on has a CSI driver for any NFS server",
}

_PATH: Path = ("storage", "home")


# Keys of each type, besides `type`, `mount` and `existing`; and those that `existing` requires and allows.
_KEYS: Mapping[str, frozenset[str]] = {
    "openzfs": frozenset(("capacity", "throughput", "deployment", "backups", "clients")),
    "efs": frozenset(),
    "s3-files": frozenset(),
    "nfs": frozenset(),
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {"openzfs": ("id", "volume"), "efs": ("id",), "nfs": ("server", "path")}
_ALLOWED: Mapping[str, tuple[str, ...]] = {"openzfs": ("path",)}


def check_home(draft: Draft) -> Iterator[Problem]:
    """Check the home directories."""
    home = draft.storage.home
    if home is None:
        return
    yield from _check_type(home)
    if home.existing is not None:
        yield from _check_existing(home)
    elif home.type == "openzfs":
        yield from _check_openzfs(home, draft)
    else:
        yield from until_invalid(_check_mount_targets(home, draft))
    if home.type == "s3-files":
        yield from until_invalid(_check_s3_files(draft))


def _check_type(home: Home) -> Iterator[Problem]:
    for name in sorted(home.model_fields_set - {"type", "mount", "existing"} - _KEYS[home.type]):
        message = f"is a key of type: openzfs, and the type is {home.type}; remove one of the two"
        yield _TYPE((*_PATH, name), message, at_key=True)
    if home.type == "nfs" and home.existing is None:
        message = (
            "is a server that exists; name it, for example existing: {server: nfs.example.com, path: /vol1}, or use "
            "openzfs, efs or s3-files for a new file system"
        )
        yield _TYPE((*_PATH, "type"), message)


def _check_existing(home: Home) -> Iterator[Problem]:
    path, existing = (*_PATH, "existing"), home.existing
    if existing is None:
        return
    if home.type not in _REQUIRED:
        message = (
            "has no existing file system of S3 Files; in Python: Storage(home=S3FilesHome."
            "from_s3_files_home_attributes(...))"
        )
        yield _EXISTING(path, message, at_key=True)
        return
    yield from _EXISTING.of_new(_PATH, home.model_fields_set & _KEYS[home.type], "file system")
    required = _REQUIRED[home.type]
    if missing := [name for name in required if getattr(existing, name) is None]:
        message = f"of the type {home.type} needs {' and '.join(required)}; {' and '.join(missing)} is missing"
        yield _EXISTING(path, message, at_key=True)
    allowed = {*required, *_ALLOWED.get(home.type, ()), "security_group"}
    for name in sorted(existing.model_fields_set - allowed):
        keys = ", ".join([*required, *_ALLOWED.get(home.type, ()), "security-group"])
        message = f"is no key of an existing {home.type}, which accepts {keys}; remove it, or change the type"
        yield _EXISTING((*path, name.replace("_", "-")), message, at_key=True)
    if home.type == "openzfs" and existing.path is not None and not f"{existing.path}/".startswith("/fsx/"):
        message = f"a path of a volume of FSx for OpenZFS begins with /fsx, such as /fsx/home, got {existing.path}"
        yield _EXISTING((*path, "path"), message)


def check_kubernetes_home(draft: Draft) -> Iterator[Problem]:
    """Check the home directories of Kubernetes nodes."""
    home = draft.storage.home
    if home is not None and home.type in _NOT_ON_KUBERNETES:
        message = f"{_NOT_ON_KUBERNETES[home.type]}; use openzfs or efs"
        yield _KUBERNETES((*_PATH, "type"), message)


def _check_mount_targets(home: Home, draft: Draft) -> Iterator[Problem]:
    local = sorted({zone for zone in (draft.zone, *(group.zone for group in draft.node_groups)) if is_local_zone(zone)})
    if home.type in ("efs", "s3-files") and local:
        message = (
            f"nodes are in the Local Zone {local[0]}, where this library creates no mount target; use openzfs, which "
            "nodes mount from another zone"
        )
        yield _ZONE((*_PATH, "type"), message)


def _check_s3_files(draft: Draft) -> Iterator[Problem]:
    storage, path = draft.storage, (*_PATH, "type")
    if not storage.data_bucket:
        yield _S3_FILES(path, "shows the data bucket, and data-bucket is false; remove one of the two")
    links = storage.lustre.data_repository_associations if storage.lustre else {}
    for name, link in links.items():
        shown = f"{prefix(name, link).strip('/')}/".removeprefix("/")
        if shows_data_bucket(link, storage) and (shown.startswith(HOME_PREFIX) or HOME_PREFIX.startswith(shown)):
            message = (
                f"shows {HOME_PREFIX} of the data bucket, which is the home directories too, and both would write "
                "it; use another prefix, or another bucket"
            )
            yield _S3_FILES(("storage", "lustre", "data-repository-associations", name), message, at_key=True)


def check_slurm_home(draft: Draft) -> Iterator[Problem]:
    """Check the home directories of Slurm nodes."""
    home = draft.storage.home
    if home is None or home.type not in _EFS_UTILS:
        return
    version, without_client = _EFS_UTILS[home.type]
    sections = {("nodes", name): section.image or draft.image for name, section in draft.nodes.items()}
    images = {("slurm", "login"): draft.slurm.login.image or draft.image, **sections}
    for is_missing, why in without_client.items():
        if without := [".".join(where) for where, image in images.items() if is_missing(image)]:
            message = (
                f"needs {version} on every node, and {why}; give an image that has it for {', '.join(without)}, "
                f"or use openzfs{' or efs' if home.type == 's3-files' else ''}"
            )
            yield _CLIENT((*_PATH, "type"), message)


def _is_aws(image: ImageOption) -> bool:
    return image == "aws"


def _is_built(image: ImageOption) -> bool:
    return isinstance(image, BuiltImage)


# The build starts from the Base GPU AMI, to which AWS adds the utilities of EFS in its image for PCS:
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_ami_pcs-ready-dlami.html (read 2026-11-27)
_NOT_BUILT = "an image of the deployment does not have it"
#: Type of home directories -> what nodes need of amazon-efs-utils, and the images that lack it, with the reason.
_EFS_UTILS: Mapping[str, tuple[str, Mapping[Callable[[ImageOption], bool], str]]] = {
    "efs": ("amazon-efs-utils", {_is_built: _NOT_BUILT}),
    "s3-files": (
        "amazon-efs-utils 3.0",
        {_is_aws: f"AWS's image has an older one ({s3_files.PCS_IMAGE_EFS_UTILS})", _is_built: _NOT_BUILT},
    ),
}


def _check_openzfs(home: Home, draft: Draft) -> Iterator[Problem]:
    yield from _BACKUPS.of_days((*_PATH, "backups"), "daily backups", home.backups, openzfs.MOST_BACKUP_DAYS)
    yield from until_invalid(_check_clients(home, draft))
    # The rules of throughput and region are acceptable, so errors that both do not change are of the other rule.
    seen: set[str] = set()
    for rule, region, any_throughput in (
        (_SOLD, None, True),
        (_THROUGHPUT, None, False),
        (_REGION, valid(lambda: draft.region), True),
    ):
        try:
            home_size(home, region=region, clients=draft.instances, any_throughput=any_throughput)
        except ValueError as error:
            parts = [part for part in str(error).split("; ") if part not in seen]
            seen.update(parts)
            if parts:
                # The cluster file has no home in two zones.
                yield _unsold(rule, home, "; ".join(parts).replace(", MULTI_AZ_1", ""))


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
                f"the ranges of {network.existing.vpc} are not known here, and NFS allows clients by address; write "
                f"those that nodes are in, for example clients: [{nodes or '10.0.0.0/16'}]"
            )
            yield _CLIENTS(_PATH, message, at_key=True)
        return
    if not 1 <= len(home.clients) <= openzfs.MOST_CLIENT_RANGES:
        message = f"must hold 1 to {openzfs.MOST_CLIENT_RANGES} ranges of addresses, got {len(home.clients)}"
        yield _CLIENTS(path, message)
    elif nodes is not None and not any(range.overlaps(nodes) for range in home.clients):
        owner = "the VPC" if network.existing is None else network.existing.subnet
        message = f"holds no address of {owner}, {nodes}, so no node could mount it; add {nodes}"
        yield _CLIENTS(path, message)
    elif missing := _left_out(home.clients, draft):
        names = " and ".join(f"{name}, {subnet}" for name, subnet in missing.items())
        message = (
            f"does not hold all addresses of {names}, so nodes there could not mount it; add "
            f"{', '.join(map(str, missing.values()))}"
        )
        yield _SUBNETS(path, message)


def _left_out(ranges: Iterable[IPv4Network], draft: Draft) -> dict[str, IPv4Network]:
    """Return the subnets with nodes that ranges of addresses do not cover together, by name."""
    network, subnets = draft.network, dict[str, IPv4Network]()
    if network.existing is None:
        fixed = own_subnets(network)
        subnets["the training subnet"] = fixed[0]
        # Of login nodes, or of a control plane that mounts nothing.
        if network.control_plane_zone not in (None, draft.zone) and not draft.traits.two_zones:
            subnets[f"the subnet in {network.control_plane_zone}"] = fixed[2]
        others, _ = plan_zone_subnets(network.cidr, draft.other_zones, network.subnets, fixed)
        subnets |= {f"the subnet in {zone}": subnet for zone, subnet in others.items()}
    elif network.existing.cidr is not None:
        subnets[network.existing.subnet] = network.existing.cidr
    # Ranges that are adjacent become one.
    together = [*collapse_addresses(ranges)]
    return {name: subnet for name, subnet in subnets.items() if not any(subnet.subnet_of(range) for range in together)}


def warn_home(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings."""
    home = cluster.storage.home
    if home is None:
        return
    existing = cluster.network.existing
    vpc = cluster.network.cidr if existing is None else existing.cidr
    inside = [*PRIVATE_RANGES, *filter(None, [vpc])]
    public = [str(range) for range in home.clients or () if not any(map(range.subnet_of, inside))]
    if public:
        yield (
            PUBLIC_RANGE,
            f"storage.home.clients has public addresses, {listed(public)}: NFS asks for no password, and only the "
            "security group would keep them out; write the ranges that nodes are in",
        )
    if home.existing is None:
        return
    name = home.existing.id or home.existing.server
    words = [f"{name} is neither retained nor changed by this library: check its backups and exports"]
    if home.existing.security_group is None:
        words.append("allow tcp 2049 from the security group of the nodes, or name its security-group")
    if cluster.network.existing is None:
        words.append("the cluster gets a VPC of its own: connect it to that of the server, or name network.existing")
    yield _EXISTING_HOME, "; ".join(words)
