"""The job files of a cluster, for its login nodes."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.boot import NodeFile, jobs_parameter, tar
from ultracluster.clusterfile import ClusterFile
from ultracluster.slurm._node_archive import NodeArchive
from ultracluster.workloads import JobFile

_WITHOUT_SHARED = "/opt/ultracluster"


def shared_mount(cluster: ClusterFile) -> str | None:
    """Return the mount that all nodes share: of Lustre, or else of the home directories."""
    storage = cluster.storage
    return storage.lustre.mount if storage.lustre else storage.home.mount if storage.home else None


def jobs_directory(cluster: ClusterFile) -> str:
    """Return the directory of the job files: below the shared mount, or else on the login nodes themselves."""
    return f"{shared_mount(cluster) or _WITHOUT_SHARED}/jobs"


def job_files(scope: Construct, cluster: ClusterFile, jobs: Sequence[JobFile], *, login_role: iam.IRole) -> NodeArchive:
    """Publish the job files for login nodes, which read the parameter every ten minutes."""
    return NodeArchive(
        scope,
        "Jobs",
        content=tar([NodeFile(path=job.path, text=job.text) for job in jobs]),
        parameter_name=jobs_parameter(cluster.name),
        description=f"Job files of {cluster.name}: archive and checksum",
        roles=[login_role],
    )
