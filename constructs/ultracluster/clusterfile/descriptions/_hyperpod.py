"""Texts on clusters of HyperPod with Slurm: see `OrchestratorTexts`."""

from ultracluster.clusterfile._cluster_file import ClusterFile
from ultracluster.clusterfile._node_group import NodeGroup
from ultracluster.clusterfile.descriptions._capacity import quotas_of_hyperpod

title = "Slurm on SageMaker HyperPod"
other_addresses = "login, controller"
quotas = quotas_of_hyperpod


def control_plane(cluster: ClusterFile) -> str:
    login, section = cluster.slurm.login, cluster.hyperpod
    provisioning = "continuous provisioning" if section.strategy is None else f"slurm.conf: {section.strategy}"
    nodes = f"login: {login.count} ml.{cluster.service_type.name}; controller: ml.{section.controller}"
    return f"{nodes}; {provisioning}, node recovery {'on' if section.node_recovery else 'off'}"


def group_details(group: NodeGroup, cluster: ClusterFile) -> list[str]:
    checks = cluster.hyperpod.deep_health_checks and group.gpus and not group.elastic
    return ["deep health checks at the start"] if checks else []


def new_control_plane(before: ClusterFile, after: ClusterFile) -> str:
    return ""
