"""SageMaker HyperPod: clusters with Slurm, or of an EKS cluster."""

from ultracluster.hyperpod._cluster_of_file import HyperPodSlurmCluster
from ultracluster.hyperpod._hyperpod_cluster import AccountingDatabase, HyperPodCluster
from ultracluster.hyperpod._hyperpod_role import HyperPodRole
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup, HyperPodMount
from ultracluster.hyperpod._interfaces import IHyperPodCluster
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts

__all__ = [
    "AccountingDatabase",
    "HyperPodCluster",
    "HyperPodInstanceGroup",
    "HyperPodMount",
    "HyperPodRole",
    "HyperPodScripts",
    "HyperPodSlurmCluster",
    "IHyperPodCluster",
]
