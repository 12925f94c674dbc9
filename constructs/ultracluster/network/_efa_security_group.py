"""The security group of nodes that communicate over EFA."""

import re

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.network._group_rules import allow_all_between
from ultracluster.planning import checked, text_problem
from ultracluster.rules import Refusal

# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSecurityGroup.html (read 2026-11-23)
_DESCRIPTION = re.compile(r"[A-Za-z0-9 ._:/()#,@\[\]+=&;{}!$*-]{1,255}", re.ASCII)
_FORM = "at most 255 letters, digits, spaces and ._-:/()#,@[]+=&;{}!$*"


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

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        description: str = "Cluster nodes: all traffic among themselves, EFA included",
    ) -> None:
        if problems := [*text_problem("description", description, _DESCRIPTION, _FORM)]:
            raise Refusal(f"{scope.node.path}/{id}".strip("/"), problems)
        super().__init__(scope, id, vpc=vpc, description=description, allow_all_outbound=True)
        self._connections = ec2.Connections(security_groups=[self], default_port=ec2.Port.all_traffic())
        allow_all_between(self, "Self", self, self)

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the group; the default port is all traffic."""
        return self._connections
