"""An archive of files that nodes fetch, and fetch again when it changes."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct, IDependable

from ultracluster.compute import ScriptAsset
from ultracluster.planning import stack_of


class NodeArchive(Construct):
    """A tar archive in the bucket of `cdk bootstrap`, and the parameter with its URL and checksum.

    Nodes read the parameter by its name, so that another archive changes no node group.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        content: bytes,
        parameter_name: str,
        description: str,
        roles: Sequence[iam.IRole],
    ) -> None:
        super().__init__(scope, id)
        asset = ScriptAsset(self, "Archive", text=content, suffix="tar")
        parameter = ssm.StringParameter(
            self,
            "Parameter",
            parameter_name=parameter_name,
            string_value=f"{asset.url} {asset.sha256}",
            description=description,
        )
        # By name: the stack of the nodes refers to that of the role, and not the reverse.
        arn = stack_of(self).format_arn(
            service="ssm", resource="parameter", resource_name=parameter_name.removeprefix("/")
        )
        policy = iam.Policy(
            self,
            "Read",
            roles=[*roles],
            statements=[
                iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[arn]),
                iam.PolicyStatement(actions=["s3:GetObject"], resources=[asset.arn]),
            ],
        )
        # A node that reads the parameter may read the archive.
        parameter.node.add_dependency(policy)
        #: What must exist before a node boots.
        self.ready = (parameter, policy)


def publish_archive(
    scope: Construct, id: str, *, content: bytes, parameter_name: str, description: str, roles: Sequence[iam.IRole]
) -> tuple[IDependable, ...]:
    """Publish an archive for nodes, and return what must exist before a node boots; see `NodeArchive`."""
    archive = NodeArchive(
        scope, id, content=content, parameter_name=parameter_name, description=description, roles=roles
    )
    return archive.ready
