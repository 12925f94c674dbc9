"""Roles of nodes, and checks of keys and policies."""

from ultracluster.security._accepted import acknowledge_accepted, construct_warnings
from ultracluster.security._compliance import FINDINGS, Finding, acknowledge_compliance, packs_of
from ultracluster.security._managed_policies import add_managed_policy
from ultracluster.security._node_role import NodeRole
from ultracluster.security._same_region import check_same_region
from ultracluster.security._shown import acknowledge_wildcards, shown, wildcard_finding

__all__ = [
    "FINDINGS",
    "Finding",
    "NodeRole",
    "acknowledge_accepted",
    "acknowledge_compliance",
    "acknowledge_wildcards",
    "add_managed_policy",
    "check_same_region",
    "construct_warnings",
    "packs_of",
    "shown",
    "wildcard_finding",
]
