"""Validation of a platform: parts that exclude each other."""

import re
from collections.abc import Iterator

from ultracluster.catalogue.schedulers import eks
from ultracluster.kubernetes._bad_versions import bad_version
from ultracluster.kubernetes._charts import CHARTS
from ultracluster.kubernetes._nodes import PlatformNodes
from ultracluster.kubernetes._platform import HEALTH, Platform
from ultracluster.kubernetes._release import CHART
from ultracluster.kubernetes._resources import node_resources
from ultracluster.kubernetes._teams import shares
from ultracluster.rules import Refusal, shared

# https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html and device-management-efa.html (read
# 2026-11-20). resource.k8s.io/v1 is served from 1.34 on: https://kubernetes.io/docs/reference/using-api/deprecation-guide
_GB200_FROM = 33
_DRA_FROM = 34
# A pod has its own root, so /home is free; these are not.
_TAKEN_PATHS = ("/dev", "/proc", "/sys", "/etc", "/usr", "/bin", "/lib", "/tmp", "/var")
_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+", re.ASCII)
# Kubernetes does not enforce a limit of 0. A pod next to a launcher has 2 GiB less.
_LEAST_POD_MIB = 4_096
_PLATFORM = shared("kubernetes-platform")

#: An error of a `Platform`: attributes and names down to the value, and the message.
LocatedError = tuple[tuple[str, ...], str]


def platform_problems(platform: Platform) -> list[LocatedError]:
    """Return all errors of a platform; empty if it is valid."""
    problems = [*_names(platform), *_shares(platform), *_efa(platform), *_gpus(platform), *_elastic(platform)]
    problems += [*_selectors(platform), *_memory(platform)]
    for name, version in _versions(platform):
        problems += [(("versions", name), problem) for problem in bad_version(name, version, platform.nodes)]
    return problems


def check_platform(platform: Platform) -> None:
    """Reject a platform whose parts exclude each other.

    Raises:
        ValueError: If the platform is not valid, with all errors.
    """
    if problems := platform_problems(platform):
        messages = [(CHART if where[0] == "versions" else _PLATFORM)(problem) for where, problem in problems]
        raise Refusal(f"platform of {platform.cluster[:70]}", messages)


def _versions(platform: Platform) -> Iterator[tuple[str, str]]:
    for name, chart in CHARTS.items():
        yield name, platform.versions.get(name, chart.version)


def _names(platform: Platform) -> Iterator[LocatedError]:
    if not platform.nodes:
        yield ("nodes",), "there is no node group"
    if not platform.teams:
        yield ("teams",), "there is no team: leave teams out for one that has all nodes"
    for where, what, names in (
        ("nodes", "node group", [group.name for group in platform.nodes]),
        ("teams", "team", [team.name for team in platform.teams]),
        ("volumes", "volume", [volume.name for volume in platform.volumes.values()]),
    ):
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield (where, name), f"the {what} {name} is there twice"
    if any(team.name == HEALTH for team in platform.teams):
        yield ("teams", HEALTH), f"the team {HEALTH} is the platform's own: choose another name"
    for path in platform.volumes:
        taken = path in _TAKEN_PATHS or path == platform.scratch or path.startswith(("/dev/", "/proc/", "/sys/"))
        if taken or not _PATH.fullmatch(path) or ".." in path.split("/"):
            yield ("volumes", path), f"pods see a volume at a directory such as /fsx, got {path[:70]!r}"
    known = [*CHARTS, "mpi-operator"]
    for name in platform.versions:
        if name not in known:
            message = f"{name[:70]!r} is no release of this library's; known are {', '.join(known)}"
            yield ("versions", name), message


def _memory(platform: Platform) -> Iterator[LocatedError]:
    for group in platform.nodes:
        if group.checkpoint_percent and node_resources(group).memory_mib < _LEAST_POD_MIB:
            message = (
                f"{group.checkpoint_percent} % for checkpoints leaves pods on {group.name} less than 4 GiB of memory"
            )
            yield ("checkpoint_percent",), message


def _shares(platform: Platform) -> Iterator[LocatedError]:
    groups = {group.name for group in platform.nodes}
    for team in platform.teams:
        for name in team.nodes or {}:
            if name not in groups:
                known = ", ".join(sorted(groups))
                message = f"team {team.name} has nodes of {name!r}, which is no node group; there are {known}"
                yield ("teams", team.name, "nodes", name), message
    for group in platform.nodes:
        try:
            shares(platform.teams, group)
        except Refusal as refusal:
            yield from ((("teams",), problem) for problem in refusal.messages)


def _efa(platform: Platform) -> Iterator[LocatedError]:
    ways: dict[str, set[str]] = {}
    for group in platform.nodes:
        way = platform.efa_way(group)
        if way is not None:
            ways.setdefault(group.instance_type.name, set()).add(way)
        if way == "dranet" and not eks.at_least(platform.kubernetes, eks.DRANET_FROM):
            needed = f"DRANET needs Kubernetes {eks.DRANET_FROM} or newer"
            message = f"{needed}, got {platform.kubernetes}: use device-plugin"
            yield ("efa",), message
    for name, groups in ways.items():
        if len(groups) > 1:
            message = (
                f"nodes of {name} would run the EFA device plugin and DRANET, which give the same device to two pods: "
                "both choose nodes by their type, so all groups of one type use the same"
            )
            yield ("efa",), message


def _gpus(platform: Platform) -> Iterator[LocatedError]:
    domains = [group.name for group in platform.nodes if group.instance_type.ultraservers]
    if domains and platform.minor < _GB200_FROM:
        message = f"{', '.join(domains)}: GB200 needs Kubernetes 1.{_GB200_FROM} or newer, got {platform.kubernetes}"
        yield ("kubernetes",), message
    if domains and platform.gpu == "dra-driver":
        message = (
            f"{', '.join(domains)}: on GB200 the DRA driver has the ComputeDomains and a device plugin has the GPUs: "
            "use gpu device-plugin or gpu-operator"
        )
        yield ("gpu",), message
    if platform.gpu == "dra-driver" and platform.minor < _DRA_FROM:
        yield ("gpu",), f"GPUs by the DRA driver need Kubernetes 1.{_DRA_FROM} or newer, got {platform.kubernetes}"
    rocket = [group.name for group in platform.gpu_groups if group.os == "bottlerocket"]
    if rocket and platform.gpu != "device-plugin":
        message = (
            f"{', '.join(rocket)}: Bottlerocket brings a device plugin along, so gpu is device-plugin, "
            f"got {platform.gpu}"
        )
        yield ("gpu",), message


def _elastic(platform: Platform) -> Iterator[LocatedError]:
    elastic = [group for group in platform.nodes if group.elastic]
    if elastic and platform.karpenter is None and not platform.service_karpenter:
        names = ", ".join(group.name for group in elastic)
        yield ("karpenter",), f"{names}: elastic groups need karpenter: role, subnets, security groups, image"
    if platform.karpenter is not None and not elastic:
        yield ("karpenter",), "karpenter has no elastic group: mark one, or leave karpenter out"
    for group in elastic:
        if platform.efa_way(group) == "dranet" or platform.gpu == "dra-driver":
            message = f"{group.name}: Karpenter counts extended resources, not DRA claims: use device plugins"
            yield ("nodes", group.name, "elastic"), message
        if group.instance_type.ultraservers:
            message = f"{group.name}: an UltraServer is one Capacity Block, which does not grow and shrink: not elastic"
            yield ("nodes", group.name, "elastic"), message
        if platform.karpenter is None:
            continue
        yield from _image(group, group.image or platform.karpenter.image)
        if group.layout == "all-efa" and group.instance_type.supports_efa:
            yield (
                ("nodes", group.name, "layout"),
                f"{group.name}: Karpenter supports the layouts one-ip and max-ip, got all-efa",
            )


def _selectors(platform: Platform) -> Iterator[LocatedError]:
    keys = {tuple(sorted(group.labels)) for group in platform.nodes}
    if len(keys) > 1:
        known = " and ".join(sorted(", ".join(names) for names in keys))
        message = f"a pod for one group would be placed on another: all selectors have the same keys, got {known[:200]}"
        yield ("nodes",), message


def _image(group: PlatformNodes, image: str) -> Iterator[LocatedError]:
    """Return the errors of an image for Karpenter; one that re-resolves replaces nodes during a job."""
    if image.startswith("ami-"):
        return
    family, _, version = image.partition("@")
    if family != group.os or version in ("", "latest"):
        message = f"{group.name}: the image is an ami- id, or {group.os}@ and an exact version, got {image[:70]!r}"
        yield ("nodes", group.name, "image"), message
