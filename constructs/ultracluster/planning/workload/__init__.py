"""Failures, goodput and metric series by cluster size."""

from ultracluster.planning.workload._failures import SOURCE, days_between_interruptions
from ultracluster.planning.workload._series import SERIES_PER_NODE, series_at_most, series_limit

__all__ = [
    "SERIES_PER_NODE",
    "SOURCE",
    "days_between_interruptions",
    "series_at_most",
    "series_limit",
]
