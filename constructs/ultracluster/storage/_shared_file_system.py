"""Base of file systems that nodes mount: security group, connections, rules for clients."""

from collections.abc import Callable, Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from ultracluster.network import allow_nfs
from ultracluster.storage._checked import listed


@jsii.implements(ec2.IConnectable)
class SharedFileSystem(cdk.Resource):
    """A file system with an NFS server; a subclass calls `_connect` once its security group is known."""

    #: Reasons why EFA does not reach it from a subnet. Default: it has no EFA.
    _reach: Callable[[ec2.ISubnet], list[str]] | None = None

    @property
    def connections(self) -> ec2.Connections:
        """Connections, with the port of the file system as default port."""
        return self._connections

    def allow_clients(
        self,
        clients: ec2.IConnectable,
        *,
        subnets: ec2.ISubnet | Sequence[ec2.ISubnet] = (),
        scope: Construct | None = None,
    ) -> None:
        """Add the security group rules with which clients mount the file system.

        If the security group of an imported file system is not known, no rule is added: its owner adds the rules.

        Args:
            clients: Security group, instance, or another construct with connections.
            subnets: Subnets of clients that use EFA, to check that EFA reaches them. Default: not checked.
            scope: Where the rules are created. Default: in the stack of the file system if it refers to the stack of
                the clients; otherwise in the stack of the clients.

        Raises:
            ValueError: If `clients` has no security group, or EFA does not reach a subnet.
        """
        groups = clients.connections.security_groups if hasattr(clients, "connections") else []
        if not groups:
            raise ValueError(f"{self.node.path}: clients must have a security group, got {clients!r}")
        reach = self._reach or _reached
        errors = [f"{self.node.path}: {error}" for subnet in listed(subnets) for error in reach(subnet)]
        if errors:
            raise ValueError("\n".join(errors))
        if self._group is None:
            return
        for group in groups:
            place = scope or self._rules_scope(group)
            id = f"Clients-{_name(group)}" if place is self else f"Clients-{_name(self)}-{_name(group)}"
            if place.node.try_find_child(id) is None:
                self._allow(Construct(place, id), self._group, group)

    def _connect(self, group: ec2.ISecurityGroup | None, port: ec2.Port, *referenced: IConstruct | None) -> None:
        """Set the security group, the default port, and the constructs to which the file system refers."""
        self._group = group
        self._connections = ec2.Connections(security_groups=[group] if group else [], default_port=port)
        self._stacks = {cdk.Stack.of(construct).node.addr for construct in referenced if construct is not None}

    def _rules_scope(self, group: ec2.ISecurityGroup) -> Construct:
        # A rule refers to both groups. In the stack of the file system it would close a circle if the clients' stack
        # mounts the file system; in the stack of the clients, if the file system refers to that one.
        stack = cdk.Stack.of(group)
        near = stack.node.addr in {cdk.Stack.of(self).node.addr, *self._stacks}
        return self if near else stack

    def _allow(self, scope: Construct, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
        allow_nfs(scope, "Nfs", server, client)


def _name(construct: IConstruct) -> str:
    """Return the path of a construct in its stage: ids must not differ between the stages of a pipeline."""
    stage = cdk.Stage.of(construct)
    return construct.node.path.removeprefix(stage.node.path if stage else "").strip("/").replace("/", "-")


def _reached(subnet: ec2.ISubnet) -> list[str]:
    return []
