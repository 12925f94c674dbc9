"""Job files of a cluster file."""

from collections.abc import Callable, Mapping

from ultracluster.clusterfile import ClusterFile
from ultracluster.kubernetes import platform_of
from ultracluster.workloads._kubernetes_jobs import kubernetes_jobs
from ultracluster.workloads._slurm_jobs import JobFile, slurm_jobs

_JOBS: Mapping[str, Callable[[ClusterFile], tuple[JobFile, ...]]] = {
    "slurm": slurm_jobs,
    "hyperpod-slurm": slurm_jobs,
    "kubernetes": lambda cluster: kubernetes_jobs(platform_of(cluster)),
}


def job_files(cluster: ClusterFile) -> tuple[JobFile, ...]:
    """Return the job files for the orchestrator of a cluster file."""
    return _JOBS[cluster.orchestrator](cluster)
