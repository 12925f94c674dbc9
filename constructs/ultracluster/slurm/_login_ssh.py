"""SSH to login nodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.planning import check_fields, known
from ultracluster.rules import Refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginSsh:
    """SSH access to login nodes.

    Login nodes have private addresses only, so that clients need a VPN or a peering connection.

    Args:
        vpc: VPC of the nodes.
        key_pair: Name of an EC2 key pair, for the default user of the image.
        sources: CIDR ranges that may connect.

    Raises:
        ValueError: If there is no source.
    """

    vpc: ec2.IVpc
    key_pair: str
    sources: Sequence[str]

    def __post_init__(self) -> None:
        """Check the types, and that there is a source."""
        check_fields(self)
        if not self.sources:
            raise Refusal("", "sources must hold at least one CIDR range, got none")
        if invalid := [source for source in self.sources if known(source) and not _is_range(source)]:
            raise Refusal("", f"sources must be CIDR ranges such as 10.0.0.0/16, got {', '.join(map(repr, invalid))}")

    def security_group(self, scope: Construct, id: str) -> ec2.SecurityGroup:
        """Create the security group that allows SSH."""
        group = ec2.SecurityGroup(
            scope, id, vpc=self.vpc, description="SSH to the login nodes", allow_all_outbound=False
        )
        for source in self.sources:
            group.add_ingress_rule(ec2.Peer.ipv4(source), ec2.Port.tcp(22), "SSH")
        return group


def _is_range(text: str) -> bool:
    try:
        return IPv4Network(text, strict=False).version == 4
    except ValueError:
        return False
