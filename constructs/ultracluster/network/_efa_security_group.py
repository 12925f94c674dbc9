"""The security group of nodes that communicate over EFA."""

import re
from collections.abc import Sequence
from typing import cast

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network._group_rules import allow_all_between
from ultracluster.planning import checked, text_problem
from ultracluster.planning.network import PRIVATE_RANGES
from ultracluster.rules import ARGUMENT, Refusal

# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSecurityGroup.html (read 2026-11-23)
_DESCRIPTION = re.compile(r"[A-Za-z0-9 ._:/()#,@\[\]+=&;{}!$*-]{1,255}", re.ASCII)
# A security group filters neither resolver nor time of a VPC:
# https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html (read 2026-11-26)
_PRIVATE = tuple(map(str, PRIVATE_RANGES))
_FORM = "at most 255 letters, digits, spaces and ._-:/()#,@[]+=&;{}!$*"


class EfaSecurityGroup(ec2.SecurityGroup):
    """A security group whose members exchange all traffic, EFA included, and reach other addresses over IP.

    EFA traffic is not IP traffic: only rules that name the group itself, in both directions, allow it.
    A rule for 0.0.0.0/0 does not, and jobs then hang in NCCL's start-up with "Unresponsive receiver".

    It is an `ec2.SecurityGroup`. The default port of its `connections` is all traffic. A rule that `connections` adds
    for a peer covers IP only; use `allow_all_between` for a peer that needs EFA.

    Args:
        vpc: The VPC of the nodes.
        description: Description of the group in the console.
        public_ports: TCP ports of public addresses that the nodes reach. They reach private addresses on all ports.
            Default: all traffic is allowed.

    See: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html (read 2026-11-20)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        description: str = "Cluster nodes: all traffic among themselves, EFA included",
        public_ports: Sequence[int] | None = None,
    ) -> None:
        problems = [*text_problem("description", description, _DESCRIPTION, _FORM)]
        problems += [
            ARGUMENT(f"public_ports[{index}] must be 1 to 65535, got {port}")
            for index, port in enumerate(public_ports or ())
            if not 1 <= port <= 65535
        ]
        if problems:
            raise Refusal(f"{scope.node.path}/{id}".strip("/"), problems)
        super().__init__(scope, id, vpc=vpc, description=description, allow_all_outbound=True)
        if public_ports is not None:
            # On L1: the L2 would add an egress rule for each peer, in the stack of the group.
            resource = cast(ec2.CfnSecurityGroup, self.node.default_child)
            resource.security_group_egress = [*map(_private, _PRIVATE), *map(_public, public_ports)]
        self._connections = ec2.Connections(security_groups=[self], default_port=ec2.Port.all_traffic())
        allow_all_between(self, "Self", self, self)

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the group; the default port is all traffic."""
        return self._connections


def _private(range: str) -> ec2.CfnSecurityGroup.EgressProperty:
    return ec2.CfnSecurityGroup.EgressProperty(ip_protocol="-1", cidr_ip=range, description="Private addresses")


def _public(port: int) -> ec2.CfnSecurityGroup.EgressProperty:
    return ec2.CfnSecurityGroup.EgressProperty(
        ip_protocol="tcp", cidr_ip="0.0.0.0/0", from_port=port, to_port=port, description="Public addresses"
    )
