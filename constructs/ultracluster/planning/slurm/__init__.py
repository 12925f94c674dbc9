"""Settings and queues that AWS PCS accepts."""

from ultracluster.planning.slurm._settings import (
    METRICS_SETTINGS,
    METRICS_SINCE,
    check_gres,
    check_settings,
    unknown_settings,
)
from ultracluster.planning.slurm._shared_queues import QueueMember, check_shared_queue

__all__ = [
    "METRICS_SETTINGS",
    "METRICS_SINCE",
    "QueueMember",
    "check_gres",
    "check_settings",
    "check_shared_queue",
    "unknown_settings",
]
