"""Job files for Slurm and Kubernetes, with every number from the cluster file. Pure Python: no CDK, no Node."""

from ultracluster.workloads._artifacts import Artifact, cluster_artifacts, image_target
from ultracluster.workloads._containers import CONTAINERS, container_files, container_tag, platform_of_container
from ultracluster.workloads._from_cluster_file import job_files, plan_settings, workload_files
from ultracluster.workloads._images import IMAGES, ContainerImage
from ultracluster.workloads._kubernetes_bundle import kubernetes_bundle, kubernetes_files
from ultracluster.workloads._kubernetes_jobs import kubernetes_jobs
from ultracluster.workloads._slurm_jobs import JobFile, job_helpers, job_images, slurm_jobs
from ultracluster.workloads._table import WORKLOADS
from ultracluster.workloads._variables import VARIABLES
from ultracluster.workloads._workload import SETTINGS, Form, Workload

__all__ = [
    "CONTAINERS",
    "IMAGES",
    "SETTINGS",
    "VARIABLES",
    "WORKLOADS",
    "Artifact",
    "ContainerImage",
    "Form",
    "JobFile",
    "Workload",
    "cluster_artifacts",
    "container_files",
    "container_tag",
    "image_target",
    "job_files",
    "job_helpers",
    "job_images",
    "kubernetes_bundle",
    "kubernetes_files",
    "kubernetes_jobs",
    "plan_settings",
    "platform_of_container",
    "slurm_jobs",
    "workload_files",
]
