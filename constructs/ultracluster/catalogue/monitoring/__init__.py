"""Facts about Prometheus, Grafana and XIDs; each with source and date."""

from ultracluster.catalogue.monitoring._cloudwatch import LOG_RETENTION_DAYS as LOG_RETENTION_DAYS
from ultracluster.catalogue.monitoring._grafana import AMAZON_PROMETHEUS_PLUGIN as AMAZON_PROMETHEUS_PLUGIN
from ultracluster.catalogue.monitoring._grafana import LEAST_SUBNETS as LEAST_SUBNETS
from ultracluster.catalogue.monitoring._grafana import MANAGED_GRAFANA_REGIONS as MANAGED_GRAFANA_REGIONS
from ultracluster.catalogue.monitoring._grafana import MANAGED_GRAFANA_VERSION as MANAGED_GRAFANA_VERSION
from ultracluster.catalogue.monitoring._grafana import MOST_SUBNETS as MOST_SUBNETS
from ultracluster.catalogue.monitoring._grafana import NEW_GRAFANA_REGIONS as NEW_GRAFANA_REGIONS
from ultracluster.catalogue.monitoring._grafana import SELF_HOSTED_VERSION as SELF_HOSTED_VERSION
from ultracluster.catalogue.monitoring._prometheus import ACTIVE_ALERTS as ACTIVE_ALERTS
from ultracluster.catalogue.monitoring._prometheus import ACTIVE_SERIES as ACTIVE_SERIES
from ultracluster.catalogue.monitoring._prometheus import DEFINITION_BYTES as DEFINITION_BYTES
from ultracluster.catalogue.monitoring._prometheus import LEAST_SERIES as LEAST_SERIES
from ultracluster.catalogue.monitoring._prometheus import MOST_RETENTION_DAYS as MOST_RETENTION_DAYS
from ultracluster.catalogue.monitoring._prometheus import RETENTION_DAYS as RETENTION_DAYS
from ultracluster.catalogue.monitoring._prometheus import RULES as RULES
from ultracluster.catalogue.monitoring._prometheus import SAMPLES_PER_S as SAMPLES_PER_S
from ultracluster.catalogue.monitoring._prometheus import SCRAPER_SUBNETS as SCRAPER_SUBNETS
from ultracluster.catalogue.monitoring._prometheus import WITHOUT_PROMETHEUS as WITHOUT_PROMETHEUS
from ultracluster.catalogue.monitoring._xid_generations import RESTART_TYPES as RESTART_TYPES
from ultracluster.catalogue.monitoring._xid_generations import nvlink5_words as nvlink5_words
from ultracluster.catalogue.monitoring._xids import RESTART_ON_A100 as RESTART_ON_A100
from ultracluster.catalogue.monitoring._xids import XIDS as XIDS
from ultracluster.catalogue.monitoring._xids import XidPolicy as XidPolicy
from ultracluster.catalogue.monitoring._xids import xids as xids
