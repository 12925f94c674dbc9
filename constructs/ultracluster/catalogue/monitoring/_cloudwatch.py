"""CloudWatch Logs."""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_PUT_RETENTION_POLICY = Source(
    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html",
    read_on="2026-11-22",
)

#: Days for which CloudWatch Logs can keep a log group.
LOG_RETENTION_DAYS: Annotated[tuple[int, ...], Stated(_PUT_RETENTION_POLICY, "d")] = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)
