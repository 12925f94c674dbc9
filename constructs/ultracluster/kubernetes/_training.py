"""The controllers that run gangs: JobSet, Kubeflow Trainer, LeaderWorkerSet, and the MPI operator for NCCL's tests."""

from ultracluster.kubernetes._charts import mpi_operator, release
from ultracluster.kubernetes._platform import Platform
from ultracluster.kubernetes._release import HelmRelease, Manifest


def training_releases(platform: Platform) -> list[HelmRelease | Manifest]:
    """Return the releases, with JobSet before Trainer, which would otherwise install its own."""
    trainer = {"jobset": {"install": False}, "manager": {"replicas": 2}}
    return [
        release("jobset", platform.versions, {"controller": {"replicas": 2}}),
        release("kubeflow-trainer", platform.versions, trainer),
        release("lws", platform.versions, {}),
        mpi_operator(platform.versions),
    ]
