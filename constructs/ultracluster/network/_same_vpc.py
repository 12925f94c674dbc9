"""Check that subnets and security groups are in one VPC, as far as it is known at synthesis."""

from collections.abc import Mapping
from functools import cache

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from ultracluster.network._zonal_subnet import ZonalSubnet
from ultracluster.planning import known, once
from ultracluster.rules import Message, error

# Id of every VPC of `ec2.Vpc.from_lookup` until the CDK CLI has looked it up.
_LOOKED_UP = "vpc-12345"

OTHER_VPC = error("other-vpc", "Security groups, subnets and the nodes in them share one VPC.")


def check_same_vpc(
    resources: Mapping[str, ec2.IVpc | ec2.ISubnet | ec2.ISecurityGroup | None],
) -> list[Message]:
    """Compare the VPCs of resources that must share one.

    A VPC is known for what the app creates, for what names its VPC by id, and for the subnets of an imported VPC.
    Subnets and security groups that are imported alone are taken as they are.

    Args:
        resources: The resources, by the name of the argument that they come from; None is skipped.

    Returns:
        One problem for each resource that is in another VPC than the first; empty if none is known to be.
    """
    known = {argument: vpc for argument, resource in resources.items() if (vpc := _vpc_of(resource)) is not None}
    first, expected = next(iter(known.items()), ("", ""))
    return [
        OTHER_VPC(
            f"{argument} must be in the VPC {expected} of {first}, got {vpc}: security groups, subnets and the nodes "
            "in them share one VPC"
        )
        for argument, vpc in known.items()
        # A VPC with an id exists; one with a path is created. Whether the two are the same is not known.
        if vpc != expected and ("/" in vpc) == ("/" in expected)
    ]


def _vpc_of(resource: ec2.IVpc | ec2.ISubnet | ec2.ISecurityGroup | None) -> str | None:
    return None if resource is None else _find_vpc(resource)


@once
def _find_vpc(resource: ec2.IVpc | ec2.ISubnet | ec2.ISecurityGroup) -> str | None:
    """Id of an existing VPC, or path of one that the app creates, or None if it is not known."""
    vpc_id = getattr(resource, "vpc_id", None)
    if vpc_id is None:
        scope = resource.node.scope
        child = (scope if isinstance(scope, ZonalSubnet) else resource).node.default_child
        vpc_id = getattr(child, "vpc_id", None)
        if vpc_id is None and hasattr(scope, "select_subnets"):
            # The subnets of an imported VPC are its children.
            vpc_id = getattr(scope, "vpc_id", None)
    if vpc_id == _LOOKED_UP:
        return None
    return vpc_id if vpc_id is None or known(vpc_id) else _path(vpc_id)


# Resources of one VPC have the same token.
@cache
def _path(vpc_id: str) -> str | None:
    token = cdk.Tokenization.reverse_complete_string(vpc_id)
    target = token.target if isinstance(token, cdk.Reference) else None
    return target.node.path if isinstance(target, ec2.CfnVPC) else None
