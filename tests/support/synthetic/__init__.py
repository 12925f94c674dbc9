"""Synthetic cluster: fake exporters, with real Prometheus and Alertmanager."""

from support.synthetic.cluster import SyntheticCluster

__all__ = ["SyntheticCluster"]
