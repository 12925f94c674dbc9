"""Check that nodes start in private subnets, as far as it is known at synthesis."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2

from ultracluster.planning import once
from ultracluster.rules import Message, error

_PUBLIC = error(
    "public-subnet", "Nodes with several interfaces get no public address, and a public subnet has no NAT gateway."
)


def check_private(subnets: Mapping[str, ec2.ISubnet | None]) -> list[Message]:
    """Find subnets of nodes that are known to be public.

    Args:
        subnets: The subnets, by the name of the argument that they come from; None is skipped.

    Returns:
        One problem for each public subnet; empty if none is known to be.
    """
    return [
        _PUBLIC(
            f"{argument} must be a private subnet, got the public subnet {subnet.node.path}: nodes with several "
            "interfaces get no public address; use a subnet whose default route is a NAT gateway"
        )
        for argument, subnet in subnets.items()
        if subnet is not None and _is_public(subnet)
    ]


@once
def _is_public(subnet: ec2.ISubnet) -> bool:
    resource = subnet.node.default_child
    if isinstance(resource, ec2.CfnSubnet):
        return isinstance(subnet, ec2.PublicSubnet) or resource.map_public_ip_on_launch is True
    # A subnet of an imported VPC is a child of it.
    siblings = getattr(subnet.node.scope, "public_subnets", ())
    return any(sibling.node.path == subnet.node.path for sibling in siblings)
