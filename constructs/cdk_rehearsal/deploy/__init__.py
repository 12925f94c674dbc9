"""What is deployed, what an app would deploy, and policies of stacks against the loss of either.

Calls CloudFormation through clients that the caller creates: AWS's, or those of a local cloud.
"""

from cdk_rehearsal.deploy._assembly import AssembledStack, assembled
from cdk_rehearsal.deploy._cdk_cli import CdkCli, CliResult
from cdk_rehearsal.deploy._comparison import Comparison, comparison
from cdk_rehearsal.deploy._errors import DeployError
from cdk_rehearsal.deploy._protection import protect
from cdk_rehearsal.deploy._stack_policy import allows, policy_problems, stack_policy

__all__ = [
    "AssembledStack",
    "CdkCli",
    "CliResult",
    "Comparison",
    "DeployError",
    "allows",
    "assembled",
    "comparison",
    "policy_problems",
    "protect",
    "stack_policy",
]
