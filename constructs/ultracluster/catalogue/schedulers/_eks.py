"""Amazon EKS: Kubernetes versions with their dates and requirements, limits of nodes.

See: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html (read 2026-11-21)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, get_args

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.provenance import Source, Stated
from ultracluster.catalogue.schedulers._eks_names import (
    check_cluster_name as check_cluster_name,
)
from ultracluster.catalogue.schedulers._eks_names import (
    check_node_group_name as check_node_group_name,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    OTHER_SERVICE_CIDR as OTHER_SERVICE_CIDR,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    PRIVATE_RANGES as PRIVATE_RANGES,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    PUBLIC_RANGES as PUBLIC_RANGES,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    SERVICE_CIDR as SERVICE_CIDR,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    check_public_range as check_public_range,
)
from ultracluster.catalogue.schedulers._eks_ranges import (
    check_service_range as check_service_range,
)

_KUBERNETES_VERSIONS = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html", read_on="2026-11-21"
)
_ULTRASERVERS = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html", read_on="2026-11-21"
)
_EFA_DEVICES = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html", read_on="2026-11-21"
)
_SCALING_CONFIG = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-cluster-controlplanescalingconfig.html",
    read_on="2026-11-21",
)
_SCALING = Source("https://kubernetes.io/releases/version-skew-policy/#kubelet", read_on="2026-11-22")
_NETWORK_REQS = Source("https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html", read_on="2026-11-21")
_PREFIX_MODE_LINUX = Source(
    "https://docs.aws.amazon.com/eks/latest/best-practices/prefix-mode-linux.html", read_on="2026-11-21"
)
_CHOOSING_INSTANCE_TYPE = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html", read_on="2026-11-21"
)
_NODE_EFA = Source("https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html", read_on="2026-11-21")
_SERVICE_QUOTAS = Source("https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html", read_on="2026-11-23")
_NODE_POOLS = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/ml-node-pools.html "
    "https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html "
    "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html",
    read_on="2026-11-21",
)

#: Operating systems of nodes.
NodeOs = Literal["al2023", "bottlerocket"]
NODE_OSES: tuple[NodeOs, ...] = get_args(NodeOs)


class KubernetesVersion(NamedTuple):
    """A version of Kubernetes on EKS.

    Args:
        released: Release date on EKS.
        standard_until: End of standard support.
        extended_until: End of extended support, which costs more by the hour; EKS then updates the control plane.
    """

    released: date
    standard_until: date
    extended_until: date


# Read on 2026-11-21. 1.31 is left out: its extended support ends on 2026-11-26, and EKS then updates it automatically.
VERSIONS: Annotated[
    Mapping[str, KubernetesVersion],
    Stated(
        _KUBERNETES_VERSIONS, columns="version of Kubernetes: release, end of standard support, end of extended support"
    ),
] = MappingProxyType(
    {
        name: KubernetesVersion(
            released=date.fromisoformat(released),
            standard_until=date.fromisoformat(standard),
            extended_until=date.fromisoformat(extended),
        )
        for name, released, standard, extended in (
            ("1.32", "2025-01-23", "2026-03-23", "2027-03-23"),
            ("1.33", "2025-05-29", "2026-07-29", "2027-07-29"),
            ("1.34", "2025-10-02", "2026-12-02", "2027-12-02"),
            ("1.35", "2026-01-27", "2027-03-27", "2028-03-27"),
            ("1.36", "2026-06-02", "2027-08-02", "2028-08-02"),
        )
    }
)
#: The day on which `VERSIONS` was true. A synthesis compares with it, never with the clock; `check` with today.
READ_ON = date(2026, 11, 21)
#: Day on which the versions of charts and of Kubernetes projects were read.
CHARTS_READ_ON = date(2026, 11, 21)
# Not the newest: every chart that is deployed names it, and it is in standard support for four months more.
DEFAULT_VERSION = "1.35"

#: Days before the end of standard support in which `check` warns. Ours.
SUPPORT_NOTICE_DAYS = 60

# Dynamic Resource Allocation, which ComputeDomains need.
ULTRASERVERS_FROM: Annotated[str, Stated(_ULTRASERVERS, columns="version of Kubernetes")] = "1.33"
DRANET_FROM: Annotated[str, Stated(_EFA_DEVICES, columns="version of Kubernetes")] = "1.34"

# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-eks-cluster-controlplanescalingconfig.html
# (read 2026-11-21); `tier-ultra` is in the schema and not in the API.
SCALING_TIERS: Annotated[tuple[str, ...], Stated(_SCALING_CONFIG, columns="tiers of a control plane")] = (
    "standard",
    "tier-xl",
    "tier-2xl",
    "tier-4xl",
    "tier-8xl",
)

#: Minor versions that a kubelet may be older than the API server.
KUBELET_SKEW: Annotated[int, Stated(_SCALING, "minor versions")] = 3
#: Days after which `check` calls a release of AWS's image old. AWS releases one every week or two:
#: https://github.com/awslabs/amazon-eks-ami/releases (read 2026-11-22). Ours.
OLD_RELEASE_DAYS = 90

# EKS has no controllers' interfaces in these.
ZONES_WITHOUT_CONTROL_PLANE: Annotated[tuple[str, ...], Stated(_NETWORK_REQS, columns="ids of zones")] = (
    "use1-az3",
    "usw1-az2",
    "cac1-az3",
)

# They can be raised.
MANAGED_NODE_GROUPS: Annotated[int, Stated(_SERVICE_QUOTAS, "node groups of a cluster")] = 30
NODES_PER_MANAGED_NODE_GROUP: Annotated[int, Stated(_SERVICE_QUOTAS, "nodes")] = 450

# A prefix that the VPC CNI puts on an interface is a /28, and takes the place of one address.
ADDRESSES_PER_PREFIX: Annotated[int, Stated(_PREFIX_MODE_LINUX, "addresses")] = 16
# "For instances with less than 30 vCPUs, the cap is 110. For instances with greater than 30 vCPUs, the cap is 250".
_FEW_VCPUS: Annotated[int, Stated(_CHOOSING_INSTANCE_TYPE, "vCPUs")] = 30
_FEW_PODS: Annotated[int, Stated(_CHOOSING_INSTANCE_TYPE, "pods")] = 110
_MANY_PODS: Annotated[int, Stated(_CHOOSING_INSTANCE_TYPE, "pods")] = 250

# "Amazon EC2 instances with the EFA driver installed pre-allocate 5128 2MiB Huge Pages"; on Bottlerocket a setting of
# the node group says how many.
_EFA_HUGE_PAGES: Annotated[int, Stated(_NODE_EFA, "pages of 2 MiB")] = 5_128

#: Why EKS Auto Mode runs no training nodes, in sentences.
# https://docs.aws.amazon.com/eks/latest/userguide/ml-node-pools.html, device-management-efa.html and
# ml-eks-nvidia-ultraserver.html (read 2026-11-21)
AUTO_MODE_LIMITS: Annotated[tuple[str, ...], Stated(_NODE_POOLS, columns="sentences")] = (
    "its nodes run AWS's Bottlerocket image, so neither EFA for the Lustre client nor a custom driver can be installed",
    "a node runs for at most 21 days, which ends longer runs",
    "it runs neither your EFA device plugin nor DRANET, and no DRA, so no UltraServer",
)


def check_version(version: str) -> list[str]:
    """Return the errors of a version; empty if EKS runs it."""
    if version in VERSIONS:
        return []
    known = f"this release supports {', '.join(VERSIONS)}"
    if _key(version) < _key(next(iter(VERSIONS))):
        return [f"{version} is at its end: EKS updates such clusters automatically; {known}"]
    return [
        f"{version} is not known to this release; {known}. EKS may run newer ones, which its charts may not support"
    ]


def version_advice(version: str, today: date = READ_ON) -> str | None:
    """Return the warning about a version whose standard support ends within 60 days of a day, or has ended, or None."""
    support = VERSIONS.get(version)
    if support is not None and 0 <= (days := (support.standard_until - today).days) <= SUPPORT_NOTICE_DAYS:
        return (
            f"Kubernetes {version} leaves standard support on {support.standard_until}, in {days} days: then a "
            f"cluster costs more by the hour; update it to a newer version, one minor version at a time"
        )
    if support is not None and support.standard_until < today:
        return (
            f"Kubernetes {version} left standard support on {support.standard_until}: a cluster costs more by the "
            f"hour, "
            f"and EKS updates it automatically after {support.extended_until}; use {DEFAULT_VERSION}"
        )
    return None


def support_on(version: str, today: date) -> str:
    """Describe the support of a version on a day."""
    support = VERSIONS.get(version)
    if support is None:
        return f"Kubernetes {version}, whose support dates are not in this release"
    if today <= support.standard_until:
        days = (support.standard_until - today).days
        return f"Kubernetes {version}, in standard support until {support.standard_until}, {days} days from today"
    if today <= support.extended_until:
        days = (support.extended_until - today).days
        return (
            f"Kubernetes {version}, out of standard support since {support.standard_until}, and in extended support, "
            f"which costs more by the hour, until {support.extended_until}, {days} days from today"
        )
    return f"Kubernetes {version}, out of support since {support.extended_until}: EKS updates the control plane itself"


def is_dated_release(release: str) -> bool:
    """Return True for a release of Amazon Linux, which has a day; one of Bottlerocket has a commit."""
    return re.fullmatch(r"20\d{6}", release.rpartition("-")[2]) is not None


def release_minor(release: str) -> str:
    """Return the version of Kubernetes of a release of AWS's image, such as 1.35 of `1.35.2-20261105`."""
    return ".".join(release.split(".")[:2])


def release_age(release: str, today: date) -> int:
    """Return the age of a release in days."""
    return (today - date.fromisoformat(release.rpartition("-")[2])).days


def check_release(release: str, version: str) -> list[str]:
    """Return the errors of a release of nodes beside the version of the control plane; empty if they go together.

    See: https://kubernetes.io/releases/version-skew-policy/#kubelet (read 2026-11-22)
    """
    nodes, control_plane = _key(release_minor(release)), _key(version)
    if nodes > control_plane:
        message = "nodes must not be newer than the control plane; update kubernetes.version first"
        return [f"{release} is of Kubernetes {release_minor(release)}, and the control plane of {version}: {message}"]
    if control_plane[1] - nodes[1] > KUBELET_SKEW:
        return [
            f"{release} is of Kubernetes {release_minor(release)}, and the control plane of {version}: nodes may be "
            f"{KUBELET_SKEW} minor versions older at most; update the nodes first"
        ]
    return []


def check_ultraserver_version(version: str) -> list[str]:
    """Return the errors of UltraServers on a version; empty if it supports them."""
    if _key(version) >= _key(ULTRASERVERS_FROM):
        return []
    return [
        f"UltraServers need Kubernetes {ULTRASERVERS_FROM} or newer, got {version}: without Dynamic Resource "
        "Allocation no ComputeDomain joins their GPUs over NVLink"
    ]


def at_least(version: str, least: str) -> bool:
    """Return True if a version is a given one or newer."""
    return _key(version) >= _key(least)


def most_pods(record: InstanceType) -> int:
    """Return the maximum pods of a node: EKS's cap, or the addresses of its first network card, with prefixes.

    The VPC CNI gives pods addresses of interfaces on card 0 alone. EFA-only interfaces hold none, and one EFA device of
    that card takes a place: see `catalogue.ec2.interfaces`.
    """
    cap = _FEW_PODS if record.vcpus < _FEW_VCPUS else _MANY_PODS
    # One address of the primary interface is the node's own.
    return min(cap, (record.ipv4_per_interface - 1) * ADDRESSES_PER_PREFIX)


def pod_addresses(pods: int) -> int:
    """Return the IPv4 addresses of a node's pods in its subnet, in prefixes, with the warm prefix."""
    return ADDRESSES_PER_PREFIX * (-(-pods // ADDRESSES_PER_PREFIX) + 1)


def huge_pages(record: InstanceType) -> int:
    """Return the 2 MiB pages that a node reserves for EFA.

    None on arm64, where AWS's manifest for GB200 requests none:
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests (commit 95b939c, read 2026-11-20).
    """
    # A small node keeps no ten GiB for it: p5.4xlarge has 256, so all that have EFA and GPUs are large enough.
    return _EFA_HUGE_PAGES if record.supports_efa and record.gpus and record.architecture != "arm64" else 0


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
