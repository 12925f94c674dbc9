"""SageMaker HyperPod: clusters with Slurm, or of an EKS cluster."""

from ultracluster.hyperpod._autoscaler_role import HyperPodAutoscalerRole
from ultracluster.hyperpod._cluster_checks import AccountingDatabase
from ultracluster.hyperpod._cluster_of_file import HyperPodSlurmCluster
from ultracluster.hyperpod._hyperpod_cluster import HyperPodCluster
from ultracluster.hyperpod._hyperpod_role import HyperPodRole
from ultracluster.hyperpod._inference_add_on import HyperPodInferenceAddOn
from ultracluster.hyperpod._instance_group import HyperPodInstanceGroup, HyperPodMount
from ultracluster.hyperpod._interfaces import IHyperPodCluster
from ultracluster.hyperpod._joined_cluster import HyperPodKubernetes, HyperPodRestrictedGroup
from ultracluster.hyperpod._lifecycle_scripts import HyperPodScripts
from ultracluster.hyperpod._metrics_add_on import HyperPodObservabilityAddOn
from ultracluster.hyperpod._nodes_of_file import HyperPodKubernetesCluster
from ultracluster.hyperpod._provisioning import HyperPodProvisioning
from ultracluster.hyperpod._task_governance import HyperPodTaskGovernance, TeamQuota

__all__ = [
    "AccountingDatabase",
    "HyperPodAutoscalerRole",
    "HyperPodCluster",
    "HyperPodInferenceAddOn",
    "HyperPodInstanceGroup",
    "HyperPodKubernetes",
    "HyperPodKubernetesCluster",
    "HyperPodMount",
    "HyperPodObservabilityAddOn",
    "HyperPodProvisioning",
    "HyperPodRestrictedGroup",
    "HyperPodRole",
    "HyperPodScripts",
    "HyperPodSlurmCluster",
    "HyperPodTaskGovernance",
    "IHyperPodCluster",
    "TeamQuota",
]
