"""Chart versions that do not work with these nodes, each with its defect."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ultracluster.kubernetes._nodes import PlatformNodes

Version = tuple[int, int, int]


def number(version: str) -> Version:
    """Return the three numbers of a version, without `v` and any suffix."""
    match = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version, re.ASCII)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)


def _p6(group: PlatformNodes) -> bool:
    return group.instance_type.name.startswith("p6")


def _gb200(group: PlatformNodes) -> bool:
    return group.instance_type.name.startswith("p6e-")


def _efa(group: PlatformNodes) -> bool:
    return group.instance_type.supports_efa


@dataclass(frozen=True, kw_only=True, slots=True)
class BadVersions:
    """A range of versions that is rejected with certain nodes."""

    release: str
    #: The first bad version.
    first: Version
    #: The first good one after it.
    fixed: Version
    affects: Callable[[PlatformNodes], bool]
    why: str
    source: str


BAD_VERSIONS = (
    BadVersions(
        release="nvidia-device-plugin", first=(0, 19, 0), fixed=(0, 19, 3), affects=_efa,
        why="gives every pod all RDMA devices, and EFA fails",
        source="https://github.com/NVIDIA/k8s-device-plugin/issues/1692 (read 2026-11-20)",
    ),
    BadVersions(
        release="aws-efa-k8s-device-plugin", first=(0, 0, 0), fixed=(0, 5, 6), affects=_p6,
        why="does not support P6 nodes, whose pods then fall back to TCP",
        source="https://github.com/aws-ia/terraform-aws-eks-data-addons (number 53, read 2026-11-20)",
    ),
    BadVersions(
        release="aws-efa-k8s-device-plugin", first=(0, 0, 0), fixed=(0, 5, 14), affects=_gb200,
        why="does not support GB200 nodes",
        source="https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)",
    ),
    # v26.3.0 and v26.3.1 carry the plugin 0.19.0, v26.3.2 carries 0.19.2.
    BadVersions(
        release="gpu-operator", first=(26, 3, 0), fixed=(26, 3, 3), affects=_efa,
        why="brings a device plugin that gives every pod all RDMA devices, and EFA fails",
        source="https://github.com/NVIDIA/gpu-operator, values.yaml of the chart at each tag (read 2026-11-21)",
    ),
    BadVersions(
        release="gpu-operator", first=(0, 0, 0), fixed=(25, 3, 4), affects=_gb200,
        why="does not run on GB200 nodes",
        source="https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)",
    ),
    # The chart was numbered by year until 25.12, and from 0.4 on after its move to registry.k8s.io.
    BadVersions(
        release="nvidia-dra-driver", first=(25, 0, 0), fixed=(25, 8, 0), affects=_gb200,
        why="has no ComputeDomains for GB200",
        source="https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html (read 2026-11-20)",
    ),
)  # fmt: skip


def bad_version(release: str, version: str, nodes: tuple[PlatformNodes, ...]) -> list[str]:
    """Return the errors of a version with these nodes; empty if it works."""
    return [
        f"{release} {version} {bad.why}: use {'.'.join(map(str, bad.fixed))} or newer ({bad.source})"
        for bad in BAD_VERSIONS
        if bad.release == release
        and bad.first <= number(version) < bad.fixed
        and any(bad.affects(group) for group in nodes)
    ]
