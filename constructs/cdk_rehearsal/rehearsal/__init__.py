"""Deploy, update and destroy a CDK app with the real CDK CLI on a local stand-in for AWS.

Needs moto and cfn-lint: `pip install "cdk-ultracluster[rehearsal]"`.
"""

from cdk_rehearsal.rehearsal._adoption import Adoption, Kept
from cdk_rehearsal.rehearsal._blueprint import Maker
from cdk_rehearsal.rehearsal._cloud import ACCOUNT, LocalCloud
from cdk_rehearsal.rehearsal._errors import RehearsalError
from cdk_rehearsal.rehearsal._journal import Action, Entry, Journal, StandIn
from cdk_rehearsal.rehearsal._report import Listener, Report, Step
from cdk_rehearsal.rehearsal._runner import rehearse
from cdk_rehearsal.rehearsal._update import Edit, Update

__all__ = [
    "ACCOUNT",
    "Action",
    "Adoption",
    "Edit",
    "Entry",
    "Journal",
    "Kept",
    "Listener",
    "LocalCloud",
    "Maker",
    "RehearsalError",
    "Report",
    "StandIn",
    "Step",
    "Update",
    "rehearse",
]
