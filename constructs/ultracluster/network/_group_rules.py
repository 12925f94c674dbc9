"""Rules between security groups, which name both groups by id."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster.planning import once, security_group_id

# NFS 4 needs no other port (RFC 8881, 2.9.3). Port mapper, mount and lock daemon, which the guide of FSx for OpenZFS
# opens too, belong to NFS 3: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html and
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-files-prereq-policies.html (read 2026-11-21)
_NFS: dict[str, Any] = {"ip_protocol": "tcp", "from_port": 2049, "to_port": 2049, "description": "NFS 4, by group id"}
_ALL: dict[str, Any] = {"ip_protocol": "-1", "description": "All traffic, EFA included, by group id"}
# Words in the ids of the CDK's rules: that of a rule of the group, and that of one which its peer holds.
_WAYS = {"Ingress": ("from", "to"), "Egress": ("to", "from")}


def allow_all_between(scope: Construct, id: str, listener: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
    """Allow all traffic between two groups, or within one, by explicit rules that name the groups by id.

    The rules are L1: `ec2.SecurityGroup` drops an egress rule to a group, with a warning only, as soon as it allows
    all outbound traffic (seen with aws-cdk-lib 2.275.0 on 2026-11-20), and EFA requires that rule.
    They belong to `scope`, so that the two groups may live in different stacks without a circular reference.
    """
    if listener is client:
        _rules(scope, id, (listener, listener), (listener, listener), _ALL)
        return
    _rules(scope, f"{id}Listener", (listener, client), (listener, client), _ALL)
    _rules(scope, f"{id}Client", (client, listener), (client, listener), _ALL)


def allow_nfs(scope: Construct, id: str, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup) -> None:
    """Allow NFS from one group to the server of another, by rules that name both by id.

    The egress rule is for clients whose group does not allow all outbound traffic. Both rules belong to `scope`, so
    that the groups may live in different stacks without a circular reference.
    """
    _rules(scope, id, (server, client), (client, server), _NFS)


def _rules(
    scope: Construct,
    id: str,
    ingress: tuple[ec2.ISecurityGroup, ec2.ISecurityGroup],
    egress: tuple[ec2.ISecurityGroup, ec2.ISecurityGroup],
    traffic: dict[str, Any],
) -> None:
    """Create an ingress and an egress rule, each between a group and its peer.

    EC2 refuses a second rule like one of a group, so none is created that `connections` of the CDK has created, and the
    CDK finds a construct with the id of its rule, and creates none. A group that is imported with `mutable=False` gets
    no rule.
    """
    port = "ALL TRAFFIC" if traffic is _ALL else str(traffic["from_port"])
    for kind, create, peer, (group, other) in (
        ("Ingress", ec2.CfnSecurityGroupIngress, "source_security_group_id", ingress),
        ("Egress", ec2.CfnSecurityGroupEgress, "destination_security_group_id", egress),
    ):
        if not _mutable(group) or not _claim(group, other, port, *_WAYS[kind]):
            continue
        ids: dict[str, Any] = {"group_id": security_group_id(group), peer: security_group_id(other)}
        create(scope, f"{id}{kind}", **ids, **traffic)


@once
def _mutable(group: ec2.ISecurityGroup) -> bool:
    """Report whether rules can be added to a group; the CDK does not show it, but its rules have no effect."""
    if isinstance(group, ec2.SecurityGroup):
        return True
    group.add_ingress_rule(ec2.Peer.prefix_list("mutable"), ec2.Port.all_traffic())
    return bool(group.node.try_remove_child("from mutable:ALL TRAFFIC"))


def _claim(group: ec2.ISecurityGroup, peer: ec2.ISecurityGroup, port: str, way: str, back: str) -> bool:
    """Occupy the ids that the CDK gives a rule; return False if one is in use."""
    # `determineRuleScope` in aws-ec2/lib/security-group.js of aws-cdk-lib 2.275.0 (read 2026-11-27).
    (stack, name), (other_stack, other_name) = _place(group), _place(peer)
    places = [(group, f"{way} {other_name}:{port}")]
    if stack is not other_stack:
        places.append((peer, f"{name}:{port} {back}"))
    try:
        for scope, id in places:
            Construct(_construct(scope), id)
    except RuntimeError as error:
        if "already a Construct with name" not in str(error):
            raise
        return False
    return True


def _construct(group: ec2.ISecurityGroup) -> Construct:
    # The CDK returns an imported group as a proxy of several classes, which it does not take as a scope.
    return next(part for part in (group, *getattr(group, "_delegates", ())) if isinstance(part, Construct))


@once
def _place(group: ec2.ISecurityGroup) -> tuple[cdk.Stack, str]:
    return group.stack, cdk.Names.node_unique_id(group.node)
