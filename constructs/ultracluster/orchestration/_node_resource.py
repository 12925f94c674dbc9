"""Base of resources with nodes."""

from collections.abc import Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class NodeResource(cdk.Resource):
    """A resource with nodes, created or imported, which connects and is granted permissions as its nodes."""

    _connections: ec2.Connections
    _principal: iam.IPrincipal

    @property
    def connections(self) -> ec2.Connections:
        """Network connections, with the default port of the service."""
        return self._connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the nodes."""
        return self._principal

    def _set_nodes(self, security_groups: Sequence[ec2.ISecurityGroup], port: int, role: iam.IGrantable) -> None:
        self._connections = ec2.Connections(security_groups=list(security_groups), default_port=ec2.Port.tcp(port))
        self._principal = role.grant_principal
