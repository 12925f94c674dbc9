"""Base of file systems that nodes mount: security group, connections, rules for clients."""

from collections.abc import Callable, Sequence

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from ultracluster.cloudwatch import Alarms
from ultracluster.network import allow_nfs, check_same_vpc
from ultracluster.planning import as_list, security_groups, shown, type_errors
from ultracluster.rules import Message, Refusal, error
from ultracluster.security import check_same_region
from ultracluster.storage._metrics import FileSystemMetrics

_CLIENTS = error("file-system-clients", "The rules of a file system name the security groups of its clients.")


@jsii.implements(ec2.IConnectable)
class SharedFileSystem(cdk.Resource):
    """A file system with an NFS server; a subclass calls `_set` once its resource exists."""

    file_system_id: str
    #: CloudWatch metrics.
    metrics: FileSystemMetrics
    #: CloudWatch alarms.
    alarms: Alarms
    #: Reasons why EFA does not reach it from a subnet. Default: it has no EFA.
    _reach: Callable[[ec2.ISubnet], list[Message]] | None = None

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
                the clients' security group; otherwise in the stack of that group. A group in a stack of its own
                requires the scope: the stack of its nodes.

        Raises:
            Refusal: If `clients` has no security group, is in another region or, if known, another VPC,
                or EFA does not reach a subnet. A group of a peered VPC is accepted if it is imported by its id.
        """
        groups = security_groups(clients)
        errors: list[str] = [] if groups else [_CLIENTS(f"clients must have a security group, got {shown(clients)}")]
        if wrong := type_errors(SharedFileSystem.allow_clients, {"subnets": subnets, "scope": scope}):
            raise Refusal(self, [*errors, *wrong])
        for group in groups:
            errors += check_same_region(self, {"clients": group})
        within = {f"subnets[{index}]": subnet for index, subnet in enumerate(as_list(subnets))}
        named = {f"clients[{index}]" if index else "clients": group for index, group in enumerate(groups)}
        errors += check_same_vpc({"the file system": self._group, **within, **named})
        errors += [error for subnet in as_list(subnets) if self._reach for error in self._reach(subnet)]
        if errors:
            raise Refusal(self, errors)
        if self._group is None:
            return
        for group in groups:
            place = scope or self.rules_scope(group, group)
            id = f"Clients-{_name(group)}" if place is self else f"Clients-{_name(self)}-{_name(group)}"
            if place.node.try_find_child(id) is None:
                self._allow(Construct(place, id), self._group, group)

    def _set(
        self,
        file_system_id: str,
        metrics: FileSystemMetrics,
        group: ec2.ISecurityGroup | None,
        *referenced: IConstruct | None,
    ) -> None:
        """Set what every file system has: id, metrics, security group, and the constructs to which it refers."""
        self.file_system_id = file_system_id
        self.metrics = metrics
        self.alarms = Alarms(self, metrics.alarm_definitions())
        self._group = group
        self._connections = ec2.Connections(security_groups=[group] if group else [], default_port=self._port())
        self._stacks = {cdk.Stack.of(construct).node.addr for construct in referenced if construct is not None}

    def _port(self) -> ec2.Port:
        return ec2.Port.NFS

    def rules_scope(self, group: ec2.ISecurityGroup, nodes: IConstruct) -> Construct:
        """Return where the rules for a security group of nodes create no dependency cycle.

        Args:
            group: Security group of the nodes.
            nodes: Construct that uses both the group and the file system; the group itself if it is not known.
        """
        # A rule refers to both groups. In the stack of the file system it closes a circle if the stack of the group
        # mounts the file system; in the stack of the group, if the file system, or nodes beside it, refer to that one.
        here, stack = cdk.Stack.of(self).node.addr, cdk.Stack.of(group)
        near = stack.node.addr in {here, *self._stacks}
        # An imported file system refers to nothing.
        near = near or bool(self._stacks and nodes is not group and cdk.Stack.of(nodes).node.addr == here)
        return self if near else stack

    def _allow(self, scope: Construct, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
        allow_nfs(scope, "Nfs", server, client)


def _name(construct: IConstruct) -> str:
    """Return the path of a construct in its stage: ids must not differ between the stages of a pipeline."""
    stage = cdk.Stage.of(construct)
    return construct.node.path.removeprefix(stage.node.path if stage else "").strip("/").replace("/", "-")
