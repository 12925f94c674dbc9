"""Metrics, collectors, alerts and dashboards as data. Pure Python."""

from ultracluster.monitoring._cluster_volume import KubernetesSource, SlurmSource
from ultracluster.monitoring._from_cluster_file import cluster_rules, collector_objects, profile_of
from ultracluster.monitoring._volume import Volume, recorded_series, scraped_series, volume

__all__ = [
    "KubernetesSource",
    "SlurmSource",
    "Volume",
    "cluster_rules",
    "collector_objects",
    "profile_of",
    "recorded_series",
    "scraped_series",
    "volume",
]
