"""Base of resources with nodes."""

from collections.abc import Sequence
from functools import cached_property

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class NodeResource(cdk.Resource):
    """A resource with nodes, created or imported, which connects and is granted permissions as its nodes."""

    _security_groups: list[ec2.ISecurityGroup]
    _port: int
    _role: iam.IGrantable

    @cached_property
    def _connections(self) -> ec2.Connections:
        return ec2.Connections(security_groups=self._security_groups, default_port=ec2.Port.tcp(self._port))

    @property
    def connections(self) -> ec2.Connections:
        """Network connections, with the default port of the service."""
        return self._connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the nodes."""
        return self._role.grant_principal

    def _set_nodes(self, security_groups: Sequence[ec2.ISecurityGroup], port: int, role: iam.IGrantable) -> None:
        # Of hundreds of node groups, few are connected or granted anything: what they need is created when it is used.
        self._security_groups, self._port, self._role = list(security_groups), port, role
