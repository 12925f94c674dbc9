"""The security group of nodes that communicate over EFA."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

_ALL_TRAFFIC = "-1"


class EfaSecurityGroup(ec2.SecurityGroup):
    """A security group whose members exchange all traffic, EFA included, and reach the internet over IP.

    EFA traffic is not IP traffic: only rules that name the group itself, in both directions, allow it.
    A rule for 0.0.0.0/0 does not, and jobs then hang in NCCL's start-up with "Unresponsive receiver".

    It is an `ec2.SecurityGroup`. The default port of its `connections` is all traffic. A rule that `connections` adds
    for a peer covers IP only; use `allow_all_between` for a peer that needs EFA.

    Args:
        vpc: The VPC of the nodes.
        description: Description of the group in the console.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html (read 2026-11-20)
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        description: str = "Cluster nodes: all traffic among themselves, EFA included",
    ) -> None:
        super().__init__(scope, id, vpc=vpc, description=description, allow_all_outbound=True)
        self._connections = ec2.Connections(security_groups=[self], default_port=ec2.Port.all_traffic())
        allow_all_between(self, "Self", self, self)

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the group; the default port is all traffic."""
        return self._connections


def allow_all_between(scope: Construct, id: str, listener: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
    """Allow all traffic between two groups, or within one, by explicit rules that name the groups by id.

    The rules are L1: `ec2.SecurityGroup` drops an egress rule to a group, with a warning only, as soon as it allows
    all outbound traffic (seen with aws-cdk-lib 2.275.0 on 2026-11-20), and EFA requires that rule.
    They belong to `scope`, so that the two groups may live in different stacks without a circular reference.
    """
    ends = [(listener, client)] if listener is client else [(listener, client), (client, listener)]
    for index, (group, peer) in enumerate(ends):
        name = id if len(ends) == 1 else f"{id}{('Listener', 'Client')[index]}"
        ec2.CfnSecurityGroupIngress(
            scope,
            f"{name}Ingress",
            group_id=group.security_group_id,
            source_security_group_id=peer.security_group_id,
            ip_protocol=_ALL_TRAFFIC,
            description="All traffic, EFA included, by group id",
        )
        ec2.CfnSecurityGroupEgress(
            scope,
            f"{name}Egress",
            group_id=group.security_group_id,
            destination_security_group_id=peer.security_group_id,
            ip_protocol=_ALL_TRAFFIC,
            description="All traffic, EFA included, by group id",
        )
