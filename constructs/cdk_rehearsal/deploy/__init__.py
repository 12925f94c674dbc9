"""Comparison of an app with what is deployed, and policies of stacks against the loss of data and nodes.

Calls CloudFormation through clients that the caller creates: AWS's, or those of a local cloud.
"""

from cdk_rehearsal.deploy._assembly import AssembledStack, assembled
from cdk_rehearsal.deploy._cdk_cli import SIDE_BY_SIDE, CdkCli, CliResult, node_path
from cdk_rehearsal.deploy._change_sets import ChangeSets, change_sets
from cdk_rehearsal.deploy._cli_processes import CliProcesses
from cdk_rehearsal.deploy._comparison import Comparison, comparison
from cdk_rehearsal.deploy._creation_failed import release_failed
from cdk_rehearsal.deploy._errors import DeployError
from cdk_rehearsal.deploy._protection import protect, unprotected
from cdk_rehearsal.deploy._stack_policy import allows, policy_problems

__all__ = [
    "SIDE_BY_SIDE",
    "AssembledStack",
    "CdkCli",
    "ChangeSets",
    "CliProcesses",
    "CliResult",
    "Comparison",
    "DeployError",
    "allows",
    "assembled",
    "change_sets",
    "comparison",
    "node_path",
    "policy_problems",
    "protect",
    "release_failed",
    "unprotected",
]
