"""Amazon EKS: updates of managed node groups."""

from __future__ import annotations

import re
from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_UPDATE_BEHAVIOR = Source(
    "https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html", read_on="2026-11-27"
)
_SCHEMA = Source(
    "https://github.com/hashicorp/terraform-provider-awscc (commit 0804835), "
    "internal/service/cloudformation/schemas/AWS_EKS_Nodegroup.json",
    read_on="2026-11-27",
)

#: How a managed node group updates its nodes: `one-by-one`, `all` at once, a number at once, or a share such as `10%`.
NodeUpdate = str | int
NODE_UPDATES = ("one-by-one", "all")
# "The maximum unavailable has a quota of 100 nodes."
NODES_UPDATED_AT_ONCE: Annotated[int, Stated(_UPDATE_BEHAVIOR, "nodes")] = 100
# `timeoutInMinutes` of an update of AWS::EKS::Nodegroup, after which CloudFormation rolls back.
UPDATE_MINUTES: Annotated[int, Stated(_SCHEMA, "minutes")] = 2_160
#: A share of the nodes: 1 to 100 percent.
SHARE = re.compile(r"([1-9]\d?|100)%", re.ASCII)
UPDATE_WORDS = (
    f"{', '.join(NODE_UPDATES)}, a number of nodes from 1 to {NODES_UPDATED_AT_ONCE}, or a share of them such as 10%"
)


def is_node_update(update: object) -> bool:
    """Return True for a valid `NodeUpdate`."""
    if isinstance(update, str):
        return update in NODE_UPDATES or SHARE.fullmatch(update) is not None
    return isinstance(update, int) and not isinstance(update, bool) and 1 <= update <= NODES_UPDATED_AT_ONCE


def unavailable(update: NodeUpdate) -> tuple[int | None, int | None]:
    """Return `maxUnavailable` and `maxUnavailablePercentage` of an update, of which one is None."""
    if isinstance(update, int) or update == "one-by-one":
        return (update if isinstance(update, int) else 1), None
    return None, 100 if update == "all" else int(update.removesuffix("%"))


def update_rounds(update: NodeUpdate, count: int) -> int:
    """Return how many times after each other EKS replaces nodes until all of a group are updated."""
    number, share = unavailable(update)
    at_once = number if share is None else max(1, count * share // 100)
    return -(-count // min(at_once or 1, NODES_UPDATED_AT_ONCE))
