"""Job files: what a team submits, with every number from the cluster file. Pure Python: no CDK, no Node."""

from ultracluster.workloads.images import IMAGES, ContainerImage
from ultracluster.workloads.kubernetes_jobs import kubernetes_jobs
from ultracluster.workloads.queue_shape import QueueShape, queue_shapes
from ultracluster.workloads.slurm_jobs import JobFile, slurm_jobs

__all__ = [
    "IMAGES",
    "ContainerImage",
    "JobFile",
    "QueueShape",
    "kubernetes_jobs",
    "queue_shapes",
    "slurm_jobs",
]
