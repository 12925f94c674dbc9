"""A rehearsal: the real CDK CLI deploys, updates and destroys an app on a local stand-in for AWS.

Needs the extra `cdk-ultracluster[rehearsal]`.
"""

from ultracluster.rehearsal.profile import no_profile

with no_profile():
    from ultracluster.rehearsal.cloud import LocalCloud
    from ultracluster.rehearsal.errors import RehearsalError
    from ultracluster.rehearsal.journal import Action, Entry, Journal, Maker, StandIn
    from ultracluster.rehearsal.report import Report, Step
    from ultracluster.rehearsal.runner import Listener, rehearse

__all__ = [
    "Action",
    "Entry",
    "Journal",
    "Listener",
    "LocalCloud",
    "Maker",
    "RehearsalError",
    "Report",
    "StandIn",
    "Step",
    "rehearse",
]
