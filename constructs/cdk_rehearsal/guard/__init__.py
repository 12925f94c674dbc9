"""The guard: report what an update would do to resources that hold data, before the deployment.

Needs cfn-lint, which carries the registry schemas: `pip install "cdk-ultracluster[guard]"`.
"""

from cdk_rehearsal.guard._compare import causes as causes
from cdk_rehearsal.guard._compare import compare as compare
from cdk_rehearsal.guard._compare import protected_resources as protected_resources
from cdk_rehearsal.guard._refusals import refusals as refusals
from cdk_rehearsal.guard._report import Cause as Cause
from cdk_rehearsal.guard._report import Fate as Fate
from cdk_rehearsal.guard._report import Finding as Finding
from cdk_rehearsal.guard._report import Report as Report
from cdk_rehearsal.guard._sources import Source as Source
from cdk_rehearsal.guard._stateful import STATEFUL as STATEFUL
from cdk_rehearsal.guard._template import GuardError as GuardError
