"""Rules of what Slurm nodes run and send."""

from collections.abc import Iterator

from ultracluster.catalogue.monitoring import LOG_RETENTION_DAYS
from ultracluster.clusterfile._draft import Draft
from ultracluster.clusterfile._node_group import KUBERNETES
from ultracluster.clusterfile._problems import Problem
from ultracluster.clusterfile.rules._rule import error

_RETENTION = error("slurm-logs-retention", "CloudWatch Logs keeps a log group for some numbers of days only.")


def check_slurm_nodes(draft: Draft) -> Iterator[Problem]:
    """Check the logs of the nodes."""
    if draft.orchestrator == KUBERNETES:
        return
    retention = draft.slurm.logs.retention
    if retention.days not in LOG_RETENTION_DAYS:
        days = ", ".join(map(str, LOG_RETENTION_DAYS))
        longer = next((day for day in LOG_RETENTION_DAYS if day * 86_400 >= retention.seconds), LOG_RETENTION_DAYS[-1])
        message = f"must be one of {days} days, got {retention}; write {longer} d"
        yield _RETENTION(("slurm", "logs", "retention"), message)
