"""Texts on clusters of HyperPod with Kubernetes: see `OrchestratorTexts`."""

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile.descriptions import _kubernetes
from ultracluster.clusterfile.descriptions._capacity import quotas_of_hyperpod
from ultracluster.clusterfile.descriptions._hyperpod import group_details as group_details

title = "Kubernetes on SageMaker HyperPod"
other_addresses = _kubernetes.other_addresses
new_control_plane = _kubernetes.new_control_plane
quotas = quotas_of_hyperpod


def control_plane(cluster: ClusterFile) -> str:
    section = cluster.hyperpod
    memory = "" if section.checkpoint_memory is None else f", {section.checkpoint_memory}% of memory for checkpoints"
    recovery = f"node recovery {'on' if section.node_recovery else 'off'}"
    return f"{_kubernetes.control_plane(cluster)}; {recovery}{memory}"
