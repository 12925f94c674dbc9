"""The guard: what an update would do to resources that hold data, told before it is made.

Needs cfn-lint, which carries the registry schemas: `pip install "cdk-ultracluster[guard]"`.
"""

from ultracluster.guard.compare import compare
from ultracluster.guard.report import Cause, Fate, Finding, Report
from ultracluster.guard.sources import Source
from ultracluster.guard.stateful import STATEFUL
from ultracluster.guard.template import GuardError

__all__ = ["STATEFUL", "Cause", "Fate", "Finding", "GuardError", "Report", "Source", "compare"]
