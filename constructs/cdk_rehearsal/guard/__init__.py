"""The guard: report what an update would do to resources that hold data, before the deployment.

Needs cfn-lint, which carries the registry schemas: `pip install "cdk-ultracluster[guard]"`.
"""

from cdk_rehearsal.guard._compare import causes, compare, protected_resources
from cdk_rehearsal.guard._refusals import refusals
from cdk_rehearsal.guard._report import Cause, Fate, Finding, Report
from cdk_rehearsal.guard._sources import Source
from cdk_rehearsal.guard._stateful import STATEFUL
from cdk_rehearsal.guard._template import GuardError

__all__ = [
    "STATEFUL",
    "Cause",
    "Fate",
    "Finding",
    "GuardError",
    "Report",
    "Source",
    "causes",
    "compare",
    "protected_resources",
    "refusals",
]
