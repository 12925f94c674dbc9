"""Limits of Amazon Managed Service for Prometheus.

See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-26)
"""

from __future__ import annotations

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_QUOTAS = Source("https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html", read_on="2026-11-26")
_WORKSPACE = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-aps-workspace-workspaceconfiguration.html",
    read_on="2026-11-21",
)
_COLLECTOR = Source(
    "https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html", read_on="2026-11-21"
)

_REGIONS = Source(
    "https://docs.aws.amazon.com/prometheus/latest/userguide/what-is-Amazon-Managed-Service-Prometheus.html "
    "(botocore 1.44.5, cfn-lint 1.58.0)",
    read_on="2026-11-27",
    as_of="2026-11-17",
)

#: Regions of `catalogue.ec2.REGIONS` without the service.
WITHOUT_PROMETHEUS: Annotated[frozenset[str], Stated(_REGIONS, columns="Regions")] = frozenset(
    {"cn-north-1", "cn-northwest-1"}
)

#: Active series of a workspace by default (L-5A151448, adjustable): those with a sample in the last two hours.
ACTIVE_SERIES: Annotated[int, Stated(_QUOTAS, "series")] = 50_000_000

#: Active series that a workspace always takes. Beyond, and up to `ACTIVE_SERIES`, it takes twice the mean of the last
#: 30 minutes, or ten million more if that is above five million.
LEAST_SERIES: Annotated[int, Stated(_QUOTAS, "series")] = 2_000_000

#: Samples a second of a workspace by default (L-F4BCE0BA, adjustable): a thirtieth of the active series.
SAMPLES_PER_S: Annotated[int, Stated(_QUOTAS, "samples/s")] = 1_666_666

#: Alerts of a workspace that may be active at a time by default (L-E9CD1A4F, adjustable).
ACTIVE_ALERTS: Annotated[int, Stated(_QUOTAS, "alerts")] = 1_000

#: Rules of a workspace by default (L-3D15CDB4, adjustable).
RULES: Annotated[int, Stated(_QUOTAS, "rules")] = 2_000

#: Bytes of a rule file (L-C62641E3), and of an alert manager definition (L-3316EF76); fixed.
DEFINITION_BYTES: Annotated[int, Stated(_QUOTAS, "bytes")] = 1_000_000

#: Days that samples are kept: at most, and unless said otherwise.
MOST_RETENTION_DAYS: Annotated[int, Stated(_WORKSPACE, "d")] = 1_095
RETENTION_DAYS: Annotated[int, Stated(_WORKSPACE, "d")] = 150

#: Subnets of a scraper, each in a zone of its own.
SCRAPER_SUBNETS: Annotated[int, Stated(_COLLECTOR, "subnets")] = 2
