"""The security group of nodes that talk over EFA."""

import jsii
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

_ALL_TRAFFIC = "-1"


@jsii.implements(ec2.IConnectable)
class EfaSecurityGroup(Construct):
    """A security group whose members reach each other over EFA, and the internet over IP.

    EFA traffic is not IP traffic: only rules that name the group itself, in both directions, let it through.
    A rule for 0.0.0.0/0 does not, and jobs then hang in NCCL's start-up with "Unresponsive receiver".

    Args:
        vpc: The VPC of the nodes.
        description: What the group is for, as the console shows it.

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
        super().__init__(scope, id)
        self.security_group: ec2.ISecurityGroup = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description=description, allow_all_outbound=True
        )
        self.connections = ec2.Connections(security_groups=[self.security_group])
        allow_all_between(self, "Self", self.security_group, self.security_group)

    @property
    def security_group_id(self) -> str:
        """The id of the group."""
        return self.security_group.security_group_id


def allow_all_between(scope: Construct, id: str, listener: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
    """Let two groups (or one and itself) exchange all traffic, by explicit rules that name the groups by id.

    The rules are L1: `ec2.SecurityGroup` drops an egress rule to a group, with a warning only, as soon as it allows
    all outbound traffic (seen with aws-cdk-lib 2.275.0 on 2026-11-20), and EFA does not pass without that rule.
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
