"""Roles of nodes, and checks of keys and policies."""

from ultracluster.security._accepted import acknowledge_accepted as acknowledge_accepted
from ultracluster.security._accepted import construct_warnings as construct_warnings
from ultracluster.security._compliance import FINDINGS as FINDINGS
from ultracluster.security._compliance import Finding as Finding
from ultracluster.security._compliance import acknowledge_compliance as acknowledge_compliance
from ultracluster.security._compliance import packs_of as packs_of
from ultracluster.security._logs import allow_logs as allow_logs
from ultracluster.security._managed_policies import add_managed_policy as add_managed_policy
from ultracluster.security._node_role import NodeRole as NodeRole
from ultracluster.security._readable import acknowledge_wildcards as acknowledge_wildcards
from ultracluster.security._readable import readable as readable
from ultracluster.security._readable import wildcard_finding as wildcard_finding
from ultracluster.security._same_region import check_same_account as check_same_account
from ultracluster.security._same_region import check_same_region as check_same_region
