"""Rules of machine images."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ultracluster.catalogue.ec2 import Architecture, InstanceType, driver_below, image_software, without_driver
from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._draft import Draft, until_invalid, valid
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile._orchestrators import OrchestratorTraits
from ultracluster.clusterfile._problems import Path, Problem
from ultracluster.clusterfile._required_software import required_software
from ultracluster.clusterfile.rules._private import BUILD_ELSEWHERE
from ultracluster.clusterfile.rules._rule import Rule, error, listed, shared, warning
from ultracluster.clusterfile.sections._image import ImageOption
from ultracluster.planning.capacity import BuiltImage, Image, check_image, check_parent, is_older

_IMAGE = shared("image")
_DRIVER = error(
    "image-driver",
    "AWS's images for PCS and EKS, and those built from them, support NVIDIA GPUs of Turing and later.",
    acceptable=True,
)
_BUILD = error(
    "image-build", "Image Builder builds images of Slurm nodes, one for each architecture, from the internet."
)
_UNMANAGED = warning("accelerators-unmanaged", "The library manages NVIDIA's GPUs, and no other accelerators.")
_EFA_DRIVER = warning(
    "image-efa-driver", "Newer drivers of NVIDIA do not let EFA access the memory of the GPUs of some types."
)
_BUILD_DRIVER = error("image-build-driver", "The check of a built image refuses a driver with which EFA fails.")
_SLURM_IMAGE = warning("slurm-image", "AWS's image is not known to have this release of Slurm.")
_PARENT = error("image-parent", "The parent of an image must have architecture, driver and kernel for the nodes.")

_OLDER = "name one with an older driver: {}: {{id: ami-..., driver: 580...}}"
_WAIVED = 'if no job spans UltraServers, write software: {driver-below: "999"}'


class _Use(NamedTuple):
    path: Path
    record: InstanceType
    option: ImageOption


def check_images(draft: Draft) -> Iterator[Problem]:
    """Check the images of all nodes."""
    traits = draft.traits
    uses = [_Use(_path(draft, group.section), group.instance_type, group.image_option) for group in draft.node_groups]
    login, record = valid(lambda: draft.login_image), valid(lambda: draft.service_type)
    if traits.installs_software and login is not None and record is not None:
        named = valid(lambda: draft.slurm.login.image)
        uses.append(_Use(("image",) if named is None else ("slurm", "login", "image"), record, login))
    yield from _unique(_check_existing(uses, traits))
    yield from _unique(_check_drivers(uses, traits))
    if not traits.installs_software:
        # A service that launches its own instances refuses every image, and not only a built one.
        yield from _unique(_check_not_built(uses if traits.own_instances else []))
        return
    yield from _unique(_check_builds(uses))
    if any(isinstance(use.option, BuiltImage) for use in uses):
        yield from until_invalid(_check_build(draft))
        yield from until_invalid(_check_build_driver(draft))


def warn_images(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    """Yield the warnings about a Slurm that the image may lack, and about a driver that is too new for EFA."""
    if cluster.traits.installs_software and cluster.slurm.version not in image_software.SLURM:
        sections = [group.section for group in cluster.node_groups if group.image_option == "aws"]
        sections += ["login"] if cluster.login_image == "aws" else []
        if sections:
            yield (
                _SLURM_IMAGE,
                f"{listed(sections)}: AWS documents installers for Slurm {' and '.join(image_software.SLURM)} only, "
                f"and its image is not known to have {cluster.slurm.version}; nodes without it do not register. "
                "`ultracluster check --live` reads the releases in the description of the image; or name an image",
            )
    yield from _warn_driver(cluster)
    others = {group.instance_type.name: without_driver(group.instance_type.name) for group in cluster.node_groups}
    unmanaged = [f"{name} ({has})" for name, has in others.items() if has and not has.startswith("NVIDIA")]
    if unmanaged and not cluster.traits.has_platform:
        yield (
            _UNMANAGED,
            f"{listed(unmanaged)}: Slurm has no Gres of them, so jobs request whole nodes (--exclusive), and this "
            "library has no health checks, metrics and job files for them",
        )


def _warn_driver(cluster: ClusterFile) -> Iterator[tuple[Rule, str]]:
    for has, groups in _newer_drivers(cluster).items():
        existing = [group.section for group in groups if not isinstance(group.image_option, BuiltImage)]
        if existing:
            yield _EFA_DRIVER, f"{listed(existing)}: {_without_efa(cluster, has)}; {_OLDER.format('image')}; {_WAIVED}"


def _check_build_driver(draft: Draft) -> Iterator[Problem]:
    for has, groups in _newer_drivers(draft).items():
        for group in groups:
            if isinstance(group.image_option, BuiltImage):
                text = f"{_without_efa(draft, has)}, so that the check of the built image refuses it"
                yield _BUILD_DRIVER(_path(draft, group.section), f"{text}; {_OLDER.format('parent')}; {_WAIVED}")


def _newer_drivers(cluster: ClusterFile | Draft) -> Mapping[str, list[NodeGroup]]:
    """Return the groups whose image has a driver with which EFA fails, by what has it."""
    limit = required_software(cluster).get("driver-below")
    newer: dict[str, list[NodeGroup]] = {}
    for group in cluster.node_groups:
        if limit is None or driver_below(group.instance_type) is None:
            continue
        option = group.image_option
        image = option.parent if isinstance(option, BuiltImage) else option if isinstance(option, Image) else None
        if image is None and cluster.traits.installs_software:
            has, driver = "AWS's image", image_software.DRIVERS[cluster.traits.facts]
        elif image is not None and image.driver:
            has, driver = "the image", image.driver
        else:
            continue
        if not is_older(driver, limit):
            newer.setdefault(f"{has} has {driver}", []).append(group)
    return newer


def _without_efa(cluster: ClusterFile | Draft, has: str) -> str:
    limit = required_software(cluster)["driver-below"]
    return (
        f"from NVIDIA driver {limit} on, EFA does not access the memory of these GPUs, and {has}: NCCL between "
        "UltraServers fails, NVLink within one works"
    )


def _path(draft: Draft, section: str) -> Path:
    """Return where the file names the image of a section of nodes."""
    return ("image",) if draft.nodes[section].image is None else ("nodes", section, "image")


def _check_existing(uses: Sequence[_Use], traits: OrchestratorTraits) -> Iterator[Problem]:
    uses_of: dict[str, dict[str, str]] = {}
    for path, record, image in uses:
        if not isinstance(image, Image):
            continue
        problems = check_image(image, record)
        parameter, word = image.parameter or "", f"/{traits.facts}/"
        if parameter.startswith("/aws/service/") and word not in parameter:
            problems.append(
                f"{parameter} names images that are not ready for {traits.service}; use /aws/service{word}..."
            )
        yield from (_IMAGE(path, message) for message in problems)
        # The file describes an image once, for all of its uses.
        known = uses_of.setdefault(image.id or image.parameter or "", {})
        if image.known_architecture:
            known.setdefault(image.known_architecture, f"declared for {image.known_architecture}")
        known.setdefault(record.architecture, f"used for {record.name} ({record.architecture})")
        if len(known) > 1 and not problems:
            ways = " and ".join(known.values())
            message = f"{image.id or image.parameter} cannot be {ways}; use an image of each architecture"
            yield _IMAGE(path, message)


def _check_not_built(uses: Sequence[_Use]) -> Iterator[Problem]:
    for path, _, option in uses:
        if isinstance(option, BuiltImage):
            message = (
                "build is for Slurm: under Kubernetes EKS has the images, and containers the software; write aws, or "
                "an existing image"
            )
            yield _BUILD(path, message)


def _check_drivers(uses: Sequence[_Use], traits: OrchestratorTraits) -> Iterator[Problem]:
    for path, record, option in uses:
        has = without_driver(record.name)
        if has is None:
            continue
        # On EKS, pods get accelerators from a device plugin, and the library installs NVIDIA's alone.
        usable = traits.facts == "pcs" or (traits.own_instances and has.startswith("NVIDIA"))
        if not usable:
            message = f"{record.name} has {has}, which this release does not set up on {traits.service}"
            if traits.own_instances:
                message += ": it installs no device plugin for them, and Kueue has no quota of them"
            yield _DRIVER(path, f"{message}; use another type")
        elif not isinstance(option, Image):
            message = f"{record.name} has {has}, which AWS's image for {traits.facts.upper()} does not drive; name an"
            yield _DRIVER(path, f"{message} image with its driver: image: ami-..., or use another type")


def _check_builds(uses: Sequence[_Use]) -> Iterator[Problem]:
    parents: dict[Architecture, BuiltImage] = {}
    refused: set[tuple[Path, Architecture]] = set()
    for path, record, option in uses:
        if not isinstance(option, BuiltImage):
            continue
        # A parent of another architecture is one error, and not one for each type.
        if option.parent is not None and (path, record.architecture) not in refused:
            for message in check_parent(option.parent, record):
                yield _PARENT(path, message)
            if option.parent.known_architecture not in (None, record.architecture):
                refused.add((path, record.architecture))
        if parents.setdefault(record.architecture, option) != option:
            message = (
                f"one image is built for each architecture, and the nodes of {record.architecture} have two parents; "
                "write the same parent for all, or an existing image for some"
            )
            yield _BUILD(path, message)


def _check_build(draft: Draft) -> Iterator[Problem]:
    if draft.slurm.version not in image_software.SLURM:
        known = " and ".join(image_software.SLURM)
        message = (
            f"AWS has installers for Slurm {known} only, so that no image is built with {draft.slurm.version}; use "
            "one of them, or write image: aws"
        )
        yield _BUILD(("slurm", "version"), message)
    if not draft.network.internet:
        message = (
            "a build downloads from GitHub, NVIDIA and Ubuntu, and these subnets reach no internet. Build the image "
            f"in a VPC that does, {BUILD_ELSEWHERE}"
        )
        yield _BUILD(("network", "internet"), message)


def _unique(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield each error once: sections that share an image share its errors."""
    return iter(dict.fromkeys(problems))
