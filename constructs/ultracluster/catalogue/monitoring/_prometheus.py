"""Limits of Amazon Managed Service for Prometheus.

See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21)
"""

from typing import Annotated

from ultracluster.catalogue.provenance import Source, Stated

_QUOTAS = Source("https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html", read_on="2026-11-21")
_WORKSPACE = Source(
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-aps-workspace-workspaceconfiguration.html",
    read_on="2026-11-21",
)
_COLLECTOR = Source(
    "https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html", read_on="2026-11-21"
)

#: Active series of a workspace by default (L-5A151448, adjustable): those with a sample in the last two hours.
ACTIVE_SERIES: Annotated[int, Stated(_QUOTAS, "series")] = 50_000_000

#: Alerts of a workspace that may be active at a time by default (L-E9CD1A4F, adjustable).
ACTIVE_ALERTS: Annotated[int, Stated(_QUOTAS, "alerts")] = 1_000

#: Rules of a workspace by default (L-3D15CDB4, adjustable).
RULES: Annotated[int, Stated(_QUOTAS, "rules")] = 2_000

#: Bytes of a rule file, and of an alert manager definition; fixed.
DEFINITION_BYTES: Annotated[int, Stated(_QUOTAS, "bytes")] = 1_000_000

#: Days that samples are kept: at most, and unless said otherwise.
MOST_RETENTION_DAYS: Annotated[int, Stated(_WORKSPACE, "d")] = 1_095
RETENTION_DAYS: Annotated[int, Stated(_WORKSPACE, "d")] = 150

#: Subnets of a scraper, each in a zone of its own.
SCRAPER_SUBNETS: Annotated[int, Stated(_COLLECTOR, "subnets")] = 2
