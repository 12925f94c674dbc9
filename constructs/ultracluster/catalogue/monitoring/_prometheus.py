"""Limits of Amazon Managed Service for Prometheus.

See: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (read 2026-11-21)
"""

#: Active series of a workspace by default (L-5A151448, adjustable): those with a sample in the last two hours.
ACTIVE_SERIES = 50_000_000

#: Alerts of a workspace that may be active at a time by default (L-E9CD1A4F, adjustable).
ACTIVE_ALERTS = 1_000

#: Rules of a workspace by default (L-3D15CDB4, adjustable).
RULES = 2_000

#: Bytes of a rule file, and of an alert manager definition; fixed.
DEFINITION_BYTES = 1_000_000

#: Days that samples are kept: at most, and unless said otherwise.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-aps-workspace-workspaceconfiguration.html
#: (read 2026-11-21)
MOST_RETENTION_DAYS, RETENTION_DAYS = 1_095, 150

#: Subnets of a scraper, each in a zone of its own.
#: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html (read 2026-11-21)
SCRAPER_SUBNETS = 2
