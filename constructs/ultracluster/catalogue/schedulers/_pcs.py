"""AWS PCS: sizes, limits and names.

See: https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateCluster.html and API_CreateComputeNodeGroup.html
(read 2026-11-20)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated

from ultracluster.catalogue import ec2
from ultracluster.catalogue.ec2 import InstanceType, Layout
from ultracluster.catalogue.provenance import Source, Stated

_REGISTRY = Source(
    "https://docs.aws.amazon.com/general/latest/gr/pcs.html (cfn-lint 1.58.0)",
    read_on="2026-11-22",
    as_of="2026-10-20",
    verify="make facts",
)
_CREATE_CLUSTER = Source(
    "https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateCluster.html "
    "https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateComputeNodeGroup.html",
    read_on="2026-11-20",
)
_CREATE_CLUSTER_2 = Source(
    "https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateCluster.html", read_on="2026-11-23"
)
_QUOTAS = Source("https://docs.aws.amazon.com/pcs/latest/userguide/service-endpoints-quotas.html", read_on="2026-11-21")
_SLURM_VERSIONS = Source("https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html", read_on="2026-11-21")
_SLURM_REST_API = Source("https://docs.aws.amazon.com/pcs/latest/userguide/slurm-rest-api.html", read_on="2026-11-21")
_ACCOUNTING = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-pcs-cluster-accounting.html",
    read_on="2026-11-21",
)
_AWS_PCS = Source(
    "https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs", read_on="2026-11-20"
)

#: Regions with AWS PCS: those in which CloudFormation has AWS::PCS::Cluster, as cfn-lint 1.58.0 carries its registry
#: (read 2026-11-22). Only regions of `catalogue.ec2.REGIONS` are listed. me-south-1 has no source: that copy lacks the
#: region, and so does https://docs.aws.amazon.com/general/latest/gr/pcs.html (read 2026-11-23), which lacks others that
#: have PCS. It stays, so that nothing valid is refused; `check --live` asks the region.
REGIONS: Annotated[frozenset[str], Stated(_REGISTRY, columns="Regions")] = frozenset(
    {
        *("af-south-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2"),
        *("ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6"),
        *("ca-central-1", "eu-central-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2"),
        *("eu-west-3", "me-south-1", "sa-east-1", "us-east-1", "us-east-2", "us-gov-east-1", "us-gov-west-1"),
        "us-west-2",
    }
)

# Size of the controller -> instances it manages, login nodes included. Changing the size makes a new cluster.
SIZES: Annotated[Mapping[str, int], Stated(_CREATE_CLUSTER, "instances, by size of the controller")] = MappingProxyType(
    {"SMALL": 32, "MEDIUM": 512, "LARGE": 2048}
)
# Size of the controller -> jobs that it tracks, waiting ones included.
JOBS: Annotated[Mapping[str, int], Stated(_CREATE_CLUSTER_2, "jobs, by size of the controller")] = MappingProxyType(
    {"SMALL": 256, "MEDIUM": 8_192, "LARGE": 16_384}
)
# Default, login nodes' group included; a support case raises it. Queues have the same.
NODE_GROUPS_PER_CLUSTER: Annotated[int, Stated(_QUOTAS, "node groups")] = 10

#: Day on which the ends of support were read.
READ_ON = date(2026, 11, 21)
# Those that PCS takes for new clusters, with the day each ends: 24.11 ended on 2026-05-31, though the API names it.
SLURM_VERSIONS: Annotated[Mapping[str, str], Stated(_SLURM_VERSIONS, columns="version of Slurm: end of support")] = (
    MappingProxyType({"25.05": "2026-11-30", "25.11": "2027-05-31", "26.05": "2027-11-30"})
)
# Those that PCS ran once, with the day each ended.
ENDED_SLURM_VERSIONS: Annotated[
    Mapping[str, str], Stated(_CREATE_CLUSTER, columns="version of Slurm: end of support")
] = MappingProxyType({"23.11": "2025-05-31", "24.05": "2025-11-30", "24.11": "2026-05-31"})
# Not the newest: AWS's sample images and Pyxis builds are for this one.
DEFAULT_SLURM_VERSION = "25.11"
#: Days before the end of a version from which `check` warns. Ours.
SUPPORT_NOTICE_DAYS = 60

REST_API_SINCE: Annotated[str, Stated(_SLURM_REST_API, columns="version of Slurm")] = "25.05"
LONGEST_PURGE_DAYS: Annotated[int, Stated(_ACCOUNTING, "d")] = 10_000

CLUSTER_NAME: Annotated[str, Stated(_CREATE_CLUSTER, columns="regular expression")] = (
    r"^(?!pcs_)[A-Za-z][A-Za-z0-9-]{2,39}$"
)
# The service allows capitals and a longer first class; ours is what is safe in Slurm and in host names as well.
NODE_GROUP_NAME: Annotated[str, Stated(_CREATE_CLUSTER, columns="regular expression")] = r"^[A-Za-z][A-Za-z0-9-]{2,24}$"

# What AWS's own templates for PCS use; that PCS takes EFA-only devices is not shown.
LAYOUT: Annotated[Layout, Stated(_AWS_PCS, columns="layout of interfaces")] = "all-efa"


def support_warning(version: str, today: date) -> str | None:
    """Return the warning about a version whose support ends within 60 days of a day, or has ended, or None."""
    end = date.fromisoformat(SLURM_VERSIONS.get(version) or "9999-12-31")
    days = (end - today).days
    if days > SUPPORT_NOTICE_DAYS:
        return None
    ends = f"ends on {end}, in {days} days" if days > 0 else f"ended on {end}"
    later = [other for other, day in SLURM_VERSIONS.items() if date.fromisoformat(day) > max(end, today)]
    fix = f"; create the cluster with {later[0]}" if later else "; a newer release of this library has newer versions"
    return f"the support of AWS PCS for Slurm {version} {ends}{fix}"


def size_for(nodes: int) -> str:
    """Return the smallest controller size for a number of instances.

    Raises:
        ValueError: If no size supports the number.
    """
    if problems := check_nodes(nodes):
        raise ValueError(problems[0])
    return next(size for size, most in SIZES.items() if nodes <= most)


def check_nodes(nodes: int, size: str | None = None) -> list[str]:
    """Return the errors of a number of instances for a cluster size; empty if it is valid."""
    most = max(SIZES.values())
    if 1 <= nodes <= most:
        if size is None or nodes <= SIZES.get(size, nodes):
            return []
        return [
            f"a {size} controller manages {SIZES[size]} instances, login nodes included, got {nodes}; use a larger one"
        ]
    return [
        f"a PCS cluster manages 1 to {most} instances, login nodes included, got {nodes}; split it into two clusters"
    ]


def check_cluster_name(name: str) -> list[str]:
    """Return the errors of a cluster name; empty if it is valid."""
    if re.fullmatch(CLUSTER_NAME[1:-1], name):
        return []
    return [f"the name of a cluster has 3 to 40 letters, digits and hyphens and begins with a letter, got {name!r}"]


def check_node_group_name(name: str) -> list[str]:
    """Return the errors of a node group or queue name; empty if it is valid."""
    if re.fullmatch(NODE_GROUP_NAME[1:-1], name):
        return []
    return [f"the name has 3 to 25 letters, digits and hyphens and begins with a letter, got {name!r}"]


def check_slurm_version(version: str) -> list[str]:
    """Return the errors of a Slurm version; empty if it is valid."""
    if version in SLURM_VERSIONS:
        return []
    return [f"slurm_version must be one of {', '.join(SLURM_VERSIONS)}, which PCS supports, got {version!r}"]


def default_layout(record: InstanceType) -> Layout:
    """Return the default interface layout of PCS nodes: AWS's, or the first that the type supports."""
    return ec2.default_layout(record, LAYOUT)
