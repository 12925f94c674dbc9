"""SSH to login nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginSsh:
    """Who may connect to login nodes over SSH.

    They have private addresses only, so that it takes a VPN or a peering.

    Args:
        vpc: The VPC of the nodes.
        key_pair: Name of a key pair of EC2, which opens the image's own user.
        sources: Ranges of addresses that may connect.

    Raises:
        ValueError: When no source is given.
    """

    vpc: ec2.IVpc
    key_pair: str
    sources: Sequence[str]

    def __post_init__(self) -> None:
        """Check the sources."""
        if not self.sources:
            raise ValueError("sources must name at least one range of addresses, got none")

    def security_group(self, scope: Construct, id: str) -> ec2.SecurityGroup:
        """The group that lets them in."""
        group = ec2.SecurityGroup(
            scope, id, vpc=self.vpc, description="SSH to the login nodes", allow_all_outbound=False
        )
        for source in self.sources:
            group.add_ingress_rule(ec2.Peer.ipv4(source), ec2.Port.tcp(22), "SSH")
        return group
