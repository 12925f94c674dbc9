"""Comparison of an app with what is deployed, and policies of stacks against the loss of data and nodes.

Calls CloudFormation through clients that the caller creates: AWS's, or those of a local cloud.
"""

from cdk_rehearsal.deploy._assembly import AssembledStack as AssembledStack
from cdk_rehearsal.deploy._assembly import assembled as assembled
from cdk_rehearsal.deploy._assembly import templates_of as templates_of
from cdk_rehearsal.deploy._cdk_cli import SIDE_BY_SIDE as SIDE_BY_SIDE
from cdk_rehearsal.deploy._cdk_cli import CdkCli as CdkCli
from cdk_rehearsal.deploy._cdk_cli import CliResult as CliResult
from cdk_rehearsal.deploy._cdk_cli import node_path as node_path
from cdk_rehearsal.deploy._change_sets import ChangeSets as ChangeSets
from cdk_rehearsal.deploy._change_sets import change_sets as change_sets
from cdk_rehearsal.deploy._cli_processes import CliProcesses as CliProcesses
from cdk_rehearsal.deploy._comparison import Comparison as Comparison
from cdk_rehearsal.deploy._comparison import comparison as comparison
from cdk_rehearsal.deploy._creation_failed import release_failed as release_failed
from cdk_rehearsal.deploy._errors import DeployError as DeployError
from cdk_rehearsal.deploy._protection import protect as protect
from cdk_rehearsal.deploy._protection import unprotected as unprotected
from cdk_rehearsal.deploy._released import released_first as released_first
from cdk_rehearsal.deploy._stack_policy import allows as allows
from cdk_rehearsal.deploy._stack_policy import policy_problems as policy_problems
from cdk_rehearsal.deploy._stack_policy import unknown_id as unknown_id
