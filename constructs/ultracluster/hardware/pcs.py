"""What AWS PCS sells and accepts.

See: https://docs.aws.amazon.com/pcs/latest/APIReference/API_CreateCluster.html and API_CreateComputeNodeGroup.html
(read 2026-11-20)
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from ultracluster.hardware.instance_type import InstanceType
from ultracluster.hardware.interfaces import Layout, interfaces

# Size of the controller -> instances it manages, login nodes included. Changing the size makes a new cluster.
SIZES: Mapping[str, int] = MappingProxyType({"SMALL": 32, "MEDIUM": 512, "LARGE": 2048})

# Those that PCS takes for new clusters, with the day each ends: 24.11 ended on 2026-05-31, though the API names it.
# https://docs.aws.amazon.com/pcs/latest/userguide/slurm-versions.html (read 2026-11-21)
SLURM_VERSIONS: Mapping[str, str] = MappingProxyType(
    {"25.05": "2026-11-30", "25.11": "2027-05-31", "26.05": "2027-11-30"}
)
# Those that PCS ran once, with the day each ended.
ENDED_SLURM_VERSIONS: Mapping[str, str] = MappingProxyType(
    {"23.11": "2025-05-31", "24.05": "2025-11-30", "24.11": "2026-05-31"}
)
# Not the newest: AWS's sample images and Pyxis builds are for this one.
DEFAULT_SLURM_VERSION = "25.11"

# https://docs.aws.amazon.com/pcs/latest/userguide/slurm-rest-api.html (read 2026-11-21)
REST_API_SINCE = "25.05"
# Slurm version -> those that PCS updates it to in one step.
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_clusters_version_update.html (read 2026-11-21)
UPDATES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"25.05": ("25.11", "26.05"), "25.11": ("26.05",), "26.05": ()}
)
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-pcs-cluster-accounting.html
# (read 2026-11-21)
LONGEST_PURGE_DAYS = 10_000

CLUSTER_NAME = r"^(?!pcs_)[A-Za-z][A-Za-z0-9-]{2,39}$"
# The service allows capitals and a longer first class; ours is what is safe in Slurm and in host names as well.
NODE_GROUP_NAME = r"^[A-Za-z][A-Za-z0-9-]{2,24}$"

# What AWS's own templates for PCS use; that PCS takes EFA-only devices is not shown.
# https://github.com/awslabs/awsome-distributed-ai/tree/main/architectures/aws-pcs (read 2026-11-20)
LAYOUT: Layout = "all-efa"


def size_for(nodes: int) -> str:
    """The smallest controller for so many instances.

    Raises:
        ValueError: When no size manages so many.
    """
    problems = check_nodes(nodes)
    if problems:
        raise ValueError(problems[0])
    return next(size for size, most in SIZES.items() if nodes <= most)


def check_nodes(nodes: int, size: str | None = None) -> list[str]:
    """What is wrong with the number of instances of a cluster, of a given size; empty when nothing is."""
    most = max(SIZES.values())
    if 1 <= nodes <= most:
        if size is None or nodes <= SIZES[size]:
            return []
        return [
            f"a {size} controller manages {SIZES[size]} instances, login nodes included, got {nodes}; take a larger one"
        ]
    return [
        f"a PCS cluster manages 1 to {most} instances, login nodes included, got {nodes}; split it into two clusters"
    ]


def check_cluster_name(name: str) -> list[str]:
    """What is wrong with the name of a cluster; empty when nothing is."""
    if re.fullmatch(CLUSTER_NAME[1:-1], name):
        return []
    return [f"the name of a cluster has 3 to 40 letters, digits and hyphens and begins with a letter, got {name!r}"]


def check_node_group_name(name: str) -> list[str]:
    """What is wrong with the name of a node group or queue; empty when nothing is."""
    if re.fullmatch(NODE_GROUP_NAME[1:-1], name):
        return []
    return [f"the name has 3 to 25 letters, digits and hyphens and begins with a letter, got {name!r}"]


def check_slurm_version(version: str) -> list[str]:
    """What is wrong with a Slurm version; empty when nothing is."""
    if version in SLURM_VERSIONS:
        return []
    return [f"the Slurm version must be one of {', '.join(SLURM_VERSIONS)}, which PCS supports, got {version!r}"]


def default_layout(record: InstanceType) -> Layout:
    """The layout of a node under PCS, when nobody names one: AWS's own, or `one-ip` where the type can't have that."""
    try:
        interfaces(record, LAYOUT)
    except ValueError:
        return "one-ip"
    return LAYOUT
