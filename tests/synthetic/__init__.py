"""A cluster that is none: fake exporters, asked by real Prometheus, with real Alertmanager behind."""

from synthetic.cluster import SyntheticCluster

__all__ = ["SyntheticCluster"]
