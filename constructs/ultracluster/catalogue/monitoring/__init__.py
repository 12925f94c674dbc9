"""Facts about Prometheus, Grafana and XIDs; each with source and date."""

from ultracluster.catalogue.monitoring._cloudwatch import LOG_RETENTION_DAYS
from ultracluster.catalogue.monitoring._grafana import (
    AMAZON_PROMETHEUS_PLUGIN,
    LEAST_SUBNETS,
    MANAGED_GRAFANA_REGIONS,
    MANAGED_GRAFANA_VERSION,
    MOST_SUBNETS,
    SELF_HOSTED_VERSION,
)
from ultracluster.catalogue.monitoring._prometheus import (
    ACTIVE_ALERTS,
    ACTIVE_SERIES,
    DEFINITION_BYTES,
    LEAST_SERIES,
    MOST_RETENTION_DAYS,
    RETENTION_DAYS,
    RULES,
    SAMPLES_PER_S,
    SCRAPER_SUBNETS,
    WRITES_PER_S,
)
from ultracluster.catalogue.monitoring._xid_generations import RESTART_TYPES, nvlink5_words
from ultracluster.catalogue.monitoring._xids import RESTART_ON_A100, XIDS, XidPolicy, xids

__all__ = [
    "ACTIVE_ALERTS",
    "ACTIVE_SERIES",
    "AMAZON_PROMETHEUS_PLUGIN",
    "DEFINITION_BYTES",
    "LEAST_SERIES",
    "LEAST_SUBNETS",
    "LOG_RETENTION_DAYS",
    "MANAGED_GRAFANA_REGIONS",
    "MANAGED_GRAFANA_VERSION",
    "MOST_RETENTION_DAYS",
    "MOST_SUBNETS",
    "RESTART_ON_A100",
    "RESTART_TYPES",
    "RETENTION_DAYS",
    "RULES",
    "SAMPLES_PER_S",
    "SCRAPER_SUBNETS",
    "SELF_HOSTED_VERSION",
    "WRITES_PER_S",
    "XIDS",
    "XidPolicy",
    "nvlink5_words",
    "xids",
]
