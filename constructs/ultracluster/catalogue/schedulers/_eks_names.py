"""Amazon EKS: names of clusters and of managed node groups."""

from __future__ import annotations

import re
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_CREATE_CLUSTER = Source(
    "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html "
    "https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html",
    read_on="2026-11-22",
)
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html, and for node groups
# https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html (read 2026-11-22)
_CLUSTER_NAME: Annotated[re.Pattern[str], Stated(_CREATE_CLUSTER, columns="regular expression")] = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", re.ASCII
)
_NODE_GROUP_NAME: Annotated[re.Pattern[str], Stated(_CREATE_CLUSTER, columns="regular expression")] = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", re.ASCII
)


def check_cluster_name(name: str) -> list[str]:
    """Return the errors of the name of a cluster; empty if it is valid."""
    return _name_errors(name, _CLUSTER_NAME, 100)


def check_node_group_name(name: str) -> list[str]:
    """Return the errors of the name of a managed node group; empty if it is valid."""
    return _name_errors(name, _NODE_GROUP_NAME, 63)


def _name_errors(name: str, pattern: re.Pattern[str], most: int) -> list[str]:
    if pattern.fullmatch(name):
        return []
    return [
        f"name has 1 to {most} letters, digits, hyphens and underscores, and begins with a letter or digit, "
        f"got {name[:120]!r}"
    ]
