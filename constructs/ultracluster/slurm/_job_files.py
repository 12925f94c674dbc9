"""The job files of a cluster, for its login nodes."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from ultracluster.boot import NodeFile, jobs_parameter, tar
from ultracluster.clusterfile import ClusterFile
from ultracluster.compute import ScriptAsset
from ultracluster.workloads import JobFile

_WITHOUT_SHARED = "/opt/ultracluster"


def jobs_directory(cluster: ClusterFile) -> str:
    """Return the directory of the job files: below the shared mount, or else on the login nodes themselves."""
    storage = cluster.storage
    shared = storage.lustre.mount if storage.lustre else storage.home.mount if storage.home else _WITHOUT_SHARED
    return f"{shared}/jobs"


class JobFiles(Construct):
    """Archive of the job files in the bucket of `cdk bootstrap`, and the parameter that names it.

    Login nodes read the parameter every ten minutes, so that changed job files replace no node.

    Args:
        cluster: Cluster file.
        jobs: Job files.
        role: Role of the login nodes, which may read both.
    """

    def __init__(
        self, scope: Construct, id: str, *, cluster: ClusterFile, jobs: Sequence[JobFile], role: iam.IRole
    ) -> None:
        super().__init__(scope, id)
        archive = tar([NodeFile(path=job.path, text=job.text) for job in jobs])
        asset = ScriptAsset(self, "Archive", text=archive.decode(), suffix="tar")
        parameter = ssm.StringParameter(
            self,
            "Parameter",
            parameter_name=jobs_parameter(cluster.name),
            string_value=f"{asset.url} {asset.sha256}",
            description=f"Job files of {cluster.name}: archive and checksum",
        )
        # By name: the stack of the nodes refers to that of the role, and not the reverse.
        arn = cdk.Stack.of(self).format_arn(
            service="ssm", resource="parameter", resource_name=jobs_parameter(cluster.name).removeprefix("/")
        )
        policy = iam.Policy(
            self,
            "Read",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[arn]),
                iam.PolicyStatement(actions=["s3:GetObject"], resources=[asset.arn]),
            ],
        )
        #: What must exist before a login node boots.
        self.ready = (parameter, policy)
