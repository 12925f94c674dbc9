"""Job files for Slurm and Kubernetes, with every number from the cluster file. Pure Python: no CDK, no Node."""

from ultracluster.workloads._artifacts import Artifact as Artifact
from ultracluster.workloads._artifacts import cluster_artifacts as cluster_artifacts
from ultracluster.workloads._artifacts import image_target as image_target
from ultracluster.workloads._containers import CONTAINERS as CONTAINERS
from ultracluster.workloads._containers import container_files as container_files
from ultracluster.workloads._containers import container_tag as container_tag
from ultracluster.workloads._containers import platform_of_container as platform_of_container
from ultracluster.workloads._from_cluster_file import job_files as job_files
from ultracluster.workloads._from_cluster_file import plan_settings as plan_settings
from ultracluster.workloads._from_cluster_file import workload_files as workload_files
from ultracluster.workloads._images import IMAGES as IMAGES
from ultracluster.workloads._images import ContainerImage as ContainerImage
from ultracluster.workloads._kubernetes_bundle import kubernetes_bundle as kubernetes_bundle
from ultracluster.workloads._kubernetes_bundle import kubernetes_files as kubernetes_files
from ultracluster.workloads._kubernetes_jobs import kubernetes_jobs as kubernetes_jobs
from ultracluster.workloads._slurm_jobs import JobFile as JobFile
from ultracluster.workloads._slurm_jobs import job_helpers as job_helpers
from ultracluster.workloads._slurm_jobs import job_images as job_images
from ultracluster.workloads._slurm_jobs import slurm_jobs as slurm_jobs
from ultracluster.workloads._table import WORKLOADS as WORKLOADS
from ultracluster.workloads._variables import VARIABLES as VARIABLES
from ultracluster.workloads._workload import SETTINGS as SETTINGS
from ultracluster.workloads._workload import Form as Form
from ultracluster.workloads._workload import Workload as Workload
